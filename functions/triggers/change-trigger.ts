import { TRIGGER_ROUTES } from '../../shared/api/trigger-routes.ts'
import { principalName } from '../../shared/auth/principal.ts'
import { changeHandler } from '../http-handler.ts'
import { requireTrigger } from './declared-triggers.ts'
import { showTrigger } from './show-trigger.ts'
import { changeState, placesOf } from './trigger-state.ts'

const MOST_OWED = 1_000

/** What a paused trigger owes already waits until it goes on; what would have fired it meanwhile does not come later. */
export const handler = changeHandler({
  name: 'change-trigger',
  schema: TRIGGER_ROUTES['change-trigger'],
  async run({ principal, params, body }, world) {
    const { tenant } = principal
    const declared = await requireTrigger(world, tenant, params)
    const at = new Date(world.clock.now()).toISOString()
    const by = principalName(principal)
    let changed = false
    await changeState(world, { tenant, ...params }, declared.trigger, (state) => {
      changed = (state.paused !== undefined) !== body.paused
      if (!changed) return undefined
      const { paused: _, ...rest } = state
      if (body.paused)
        return { ...rest, paused: { by, at, ...(body.reason === undefined ? {} : { reason: body.reason }) } }
      return { ...rest, ...placesOf(declared.trigger, at) }
    })
    if (changed) world.log.info(body.paused ? 'trigger paused' : 'trigger goes on', { ...params, by })
    if (changed && !body.paused) await world.outbox.fireTriggers()
    const owed = await world.triggers.owed(tenant, MOST_OWED)
    return { json: { trigger: await showTrigger(world, declared, owed), changed } }
  },
})
