import * as z from 'zod'
import { LIST_APPROVALS } from '../../../shared/api/approval-routes.ts'
import { CONTROL_ROUTES } from '../../../shared/api/control-routes.ts'
import { DOCUMENT_ROUTES, VALIDATE_DAG } from '../../../shared/api/document-routes.ts'
import { RESEARCH_ROUTES } from '../../../shared/api/research-routes.ts'
import { RunParamsSchema } from '../../../shared/api/route-schema.ts'
import { DECLARED_HEADER } from '../../../shared/auth/declared-client.ts'
import { callApi } from '../server/api.ts'
import { RUN_TOOLS } from './run-tools.ts'
import { defineTool, type Tool, type ToolCall, withoutUndefined } from './tool.ts'

const DECIDE = CONTROL_ROUTES['decide-approval']

/** Tools about what people are asked. */
const APPROVAL_TOOLS: readonly Tool[] = [
  defineTool({
    name: 'list_approvals',
    title: 'List approvals',
    description: 'What people are asked over all runs: exactly what is shown, its digest, risk and cost.',
    input: LIST_APPROVALS.query.extend({ limit: z.int().min(1).max(100).default(20) }),
    output: LIST_APPROVALS.answer.loose(),
    reads: true,
    run: (query, { target, signal }) =>
      callApi(target, LIST_APPROVALS.answer.loose(), (api) =>
        api.GET('/api/dag/approvals', { params: { query: withoutUndefined(query) }, signal }),
      ),
  }),
  defineTool({
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
        body: withoutUndefined(body) as never,
        signal,
      }
      return callApi(target, DECIDE.answer, (api) => api.POST('/api/dag/runs/{run_id}/approvals', request))
    },
  }),
]

const PLAN = DOCUMENT_ROUTES['plan-dag']

/** Tools about documents; they start nothing. */
const DOCUMENT_TOOLS: readonly Tool[] = [
  defineTool({
    name: 'validate_dag',
    title: 'Check a DAG document',
    description:
      'Checks a DAG document (YAML text or an object): every error with its place and what to do, or its order.',
    input: VALIDATE_DAG.body,
    output: VALIDATE_DAG.answer.loose(),
    reads: true,
    run: ({ dag }, { target, signal }) =>
      callApi(target, VALIDATE_DAG.answer.loose(), (api) => api.POST('/api/dag/validate', { body: { dag }, signal })),
  }),
  defineTool({
    name: 'plan_dag',
    title: 'Plan a DAG document',
    description:
      'What runs of a DAG document will do, take and cost: critical path, time, transitions, cost estimates.',
    input: PLAN.body,
    output: PLAN.answer.loose(),
    reads: true,
    run: (body, { target, signal }) =>
      callApi(target, PLAN.answer.loose(), (api) =>
        api.POST('/api/dag/plan', { body: withoutUndefined(body), signal }),
      ),
  }),
]

const ASK = RESEARCH_ROUTES['start-research']
const GET = RESEARCH_ROUTES['get-research']

/** One look waits as long as the route allows; the first is short, so that a client soon sees the stage. */
const LOOKS_SEC = [2, 25] as const

/** The answer of the route, without its trace, or that there is none yet. */
const AnswerSchema = GET.answer
  .omit({ trace: true })
  .partial()
  .required({ run_id: true })
  .loose()
  .extend({ answered: z.boolean(), stage: z.string().optional().describe('The stage under way') })

const RESEARCH_GRAPH = defineTool({
  name: 'research_graph',
  title: 'Ask the knowledge graph',
  description:
    'Asks the knowledge graph of the place: classified, routed, searched and answered with cited evidence within a token budget. Waits wait_sec seconds for the answer; while answered is false, run_status and watch_run tell of its run.',
  input: ASK.body.extend({
    wait_sec: z.int().min(1).max(600).default(120).describe('Seconds to wait for the answer at most'),
  }),
  output: AnswerSchema,
  async run({ wait_sec, ...question }, call) {
    const { run_id } = await callApi(call.target, ASK.answer.loose(), (api) =>
      api.POST('/api/research', { body: withoutUndefined(question), signal: call.signal }),
    )
    return await answerOf(run_id, wait_sec, call)
  },
})

async function answerOf(run_id: string, wait_sec: number, call: ToolCall): Promise<object> {
  let left = wait_sec
  for (let looks = 0; ; looks += 1) {
    const wait = Math.min(left, LOOKS_SEC[looks] ?? LOOKS_SEC[1])
    const seen = await look(run_id, wait, call)
    left -= wait
    if ('trace' in seen) {
      const { trace: _, ...answer } = seen
      return { ...answer, answered: true }
    }
    if (left <= 0) return { ...seen, answered: false }
    await call.progress(looks + 1, `stage ${seen.stage}`)
  }
}

function look(run_id: string, wait: number, { target, signal }: ToolCall) {
  const request = { params: { path: { run_id }, query: { wait } }, signal }
  return callApi(target, z.union([GET.answer.loose(), GET.also.answer.loose()]), (api) =>
    api.GET('/api/research/{run_id}', request),
  )
}

/** Every tool, in the order in which they are listed. */
export const MCP_TOOLS: readonly Tool[] = [...RUN_TOOLS, ...APPROVAL_TOOLS, ...DOCUMENT_TOOLS, RESEARCH_GRAPH]
