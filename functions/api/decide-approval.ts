import { CONTROL_ROUTES } from '../../shared/api/control-routes.ts'
import { shownState } from '../../shared/runs/head.ts'
import { decideApproval } from '../approvals/decide.ts'
import { changeHandler } from '../http-handler.ts'
import { requireRun } from '../require-run.ts'

export const handler = changeHandler({
  name: 'decide-approval',
  schema: CONTROL_ROUTES['decide-approval'],
  run: async (call, world) => {
    const run = { tenant: call.principal.tenant, run_id: call.params.run_id }
    const approval = await decideApproval(world, run, call.principal, call.body, call.declared)
    const { head } = await requireRun(world, call)
    return { json: { approval: { ...approval }, run: { run_id: run.run_id, state: shownState(head) } } }
  },
})
