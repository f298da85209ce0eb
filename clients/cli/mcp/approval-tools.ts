import * as z from 'zod'
import { CONTROL_ROUTES } from '../../../shared/api/control-routes.ts'
import { LIST_APPROVALS } from '../../../shared/api/list-approvals.ts'
import { RunParamsSchema } from '../../../shared/api/route-schema.ts'
import { DECLARED_HEADER } from '../../../shared/principal.ts'
import { callApi } from '../api.ts'
import { present } from './present.ts'
import { type Tool, tool } from './tool.ts'

const DECIDE = CONTROL_ROUTES['decide-approval']

/** Tools about what people are asked. */
export const APPROVAL_TOOLS: readonly Tool[] = [
  tool({
    name: 'list_approvals',
    title: 'List approvals',
    description: 'What people are asked over all runs: exactly what is shown, its digest, risk and cost.',
    input: LIST_APPROVALS.query.extend({ limit: z.int().min(1).max(100).default(20) }),
    output: LIST_APPROVALS.answer.loose(),
    reads: true,
    run: (query, { target, signal }) =>
      callApi(target, LIST_APPROVALS.answer.loose(), (api) =>
        api.GET('/api/dag/approvals', { params: { query: present(query) }, signal }),
      ),
  }),
  tool({
    name: 'approve',
    title: 'Decide an approval',
    description:
      'Approves, rejects or waives what a run asks people, in the name of whoever started this server. The digest must be that of what list_approvals shows: nothing else is decided.',
    input: DECIDE.body.safeExtend(RunParamsSchema.shape),
    output: DECIDE.answer,
    destroys: true,
    decides: true,
    run: ({ run_id, ...body }, { target, signal }) => {
      // The schema of the arguments is that of the body; edits are free JSON values.
      const request = {
        params: { path: { run_id } },
        headers: { [DECLARED_HEADER]: 'mcp' },
        body: present(body) as never,
        signal,
      }
      return callApi(target, DECIDE.answer, (api) => api.POST('/api/dag/runs/{run_id}/approvals', request))
    },
  }),
]
