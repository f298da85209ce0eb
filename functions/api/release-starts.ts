import { CONTROL_ROUTES } from '../../shared/api/control-routes.ts'
import { changeHandler } from '../http-handler.ts'
import { fillSlots } from '../runs/slots.ts'

/** Ends the hold `stop-all` set; what stands in the queue goes on at once. */
export const handler = changeHandler({
  name: 'release-starts',
  schema: CONTROL_ROUTES['release-starts'],
  run: async ({ principal }, world) => {
    const released = await world.runs.releaseStarts(principal.tenant)
    const started = await fillSlots(world, principal.tenant)
    return { json: { released, started } }
  },
})
