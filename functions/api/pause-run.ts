import { PAUSE_ROUTES } from '../../shared/api/pause-routes.ts'
import { changeHandler } from '../http-handler.ts'
import { byPrincipal, pauseRun } from '../runs/pause.ts'

export const handler = changeHandler({
  name: 'pause-run',
  schema: PAUSE_ROUTES['pause-run'],
  run: async ({ params: { run_id }, principal, body: { reason } }, world) => {
    const run = { tenant: principal.tenant, run_id }
    const paused = await pauseRun(world, run, byPrincipal(principal, reason))
    world.log.info('run paused', { run_id, by: paused.by })
    return { json: { run_id, state: 'paused' as const, paused } }
  },
})
