import { CONTROL_ROUTES } from '../../shared/api/control-routes.ts'
import { changeHandler } from '../http-handler.ts'
import { stopBlock, stopRun } from '../runs/stop.ts'

export const handler = changeHandler({
  name: 'stop-run',
  schema: CONTROL_ROUTES['stop-run'],
  run: async ({ params, principal, body }, world) => {
    const { run_id } = params
    const { block_id, reason } = body
    const run = { tenant: principal.tenant, run_id }
    if (block_id === undefined) await stopRun(world, run, principal, reason)
    else await stopBlock(world, run, principal, { block_id, reason })
    const of = block_id === undefined ? {} : { block_id }
    return { json: { run_id, ...of, status: 'cancelled' as const, stopped: 1 as const } }
  },
})
