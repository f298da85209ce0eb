import { PAUSE_ROUTES } from '../../shared/api/pause-routes.ts'
import { changeHandler } from '../http-handler.ts'
import { byPrincipal, resumeRun } from '../runs/pause.ts'

export const handler = changeHandler({
  name: 'resume-run',
  schema: PAUSE_ROUTES['resume-run'],
  run: async ({ params: { run_id }, principal, body: { reason } }, world) => {
    const run = { tenant: principal.tenant, run_id }
    const by = byPrincipal(principal, reason)
    const stood_ms = await resumeRun(world, run, by)
    world.log.info('run resumed', { run_id, by: by.by, stood_ms })
    return { json: { run_id, stood_ms } }
  },
})
