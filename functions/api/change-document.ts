import { PAUSE_ROUTES } from '../../shared/api/pause-routes.ts'
import { principalName } from '../../shared/auth/principal.ts'
import { unknownDocument } from '../../shared/text/wording.ts'
import { changeHandler } from '../http-handler.ts'

/** The hold of one document's starts: whoever starts a run of it asks for that as for the hold of all starts. */
export const handler = changeHandler({
  name: 'change-document',
  schema: PAUSE_ROUTES['change-document'],
  run: async ({ principal, params: { name }, body: { paused, reason } }, world) => {
    const { tenant } = principal
    if (paused && !world.documents.names().includes(name)) {
      const message = `Cannot pause document "${name}": there is none of that name in this place.`
      throw unknownDocument(name, world.documents.names(), message)
    }
    const before = await world.runs.startHold(tenant, name)
    const by = principalName(principal)
    let changed = paused !== (before !== undefined)
    if (changed && paused) {
      const at = new Date(world.clock.now()).toISOString()
      await world.runs.holdStarts(tenant, { by, at, ...(reason === undefined ? {} : { reason }) }, name)
    } else if (!paused) {
      changed = await world.runs.releaseStarts(tenant, name)
      // What triggers owed meanwhile is started.
      await world.outbox.fireTriggers()
    }
    if (changed) world.log.info(paused ? 'document paused' : 'document goes on', { name, by })
    const hold = await world.runs.startHold(tenant, name)
    return { json: { name, paused: hold ?? null, changed } }
  },
})
