import { CONTROL_ROUTES } from '../../shared/api/control-routes.ts'
import { httpHandler } from '../http-handler.ts'
import { stopRun } from '../runs/stop-run.ts'

export const handler = httpHandler({
  name: 'stop-run',
  schema: CONTROL_ROUTES['stop-run'],
  run: async ({ params, principal, body }, world) => {
    await stopRun(world, { tenant: principal.tenant, run_id: params.run_id }, principal, body.reason)
    return { json: { run_id: params.run_id, status: 'cancelled' as const, stopped: 1 as const } }
  },
})
