import { TRIGGER_ROUTES } from '../../shared/api/trigger-routes.ts'
import { httpHandler } from '../http-handler.ts'
import { declaredTriggers } from './declared-triggers.ts'
import { showTrigger } from './show-trigger.ts'

const MOST_OWED = 1_000

/** Documents start runs of one tenant: no other sees that they do. */
export const handler = httpHandler({
  name: 'list-triggers',
  schema: TRIGGER_ROUTES['list-triggers'],
  async run({ principal: { tenant } }, world) {
    if (tenant !== world.settings.triggers.tenant) return { json: { triggers: [], unsound: [] } }
    const { declared, unsound } = await declaredTriggers(world)
    const owed = await world.triggers.owed(tenant, MOST_OWED)
    const triggers = await Promise.all(declared.map((one) => showTrigger(world, one, owed)))
    return { json: { triggers, unsound: [...unsound] } }
  },
})
