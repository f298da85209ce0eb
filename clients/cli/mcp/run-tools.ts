import * as z from 'zod'
import { CONTROL_ROUTES } from '../../../shared/api/control-routes.ts'
import { RunParamsSchema } from '../../../shared/api/route-schema.ts'
import { RUN_ROUTES } from '../../../shared/api/run-routes.ts'
import { START_RUN } from '../../../shared/api/start-run.ts'
import { callApi } from '../api.ts'
import { present } from './present.ts'
import { type Tool, tool } from './tool.ts'
import { WATCH_RUN } from './watch-run-tool.ts'

const LIST = RUN_ROUTES['list-runs']
const GET = RUN_ROUTES['get-run']
const STOP = CONTROL_ROUTES['stop-run']

const StatusSchema = GET.answer.omit({ dag: true, steps: true }).loose()

/** Tools that start, show and stop runs. */
export const RUN_TOOLS: readonly Tool[] = [
  tool({
    name: 'start_run',
    title: 'Start a run',
    description:
      'Starts a run of exactly one of: dag (YAML text or an object), name (a document of the place), example. Follow it with watch_run.',
    input: START_RUN.body.safeExtend({
      idempotency_key: z
        .string()
        .regex(/^[\x21-\x7e]{1,255}$/, '1 to 255 printable characters without spaces')
        .optional()
        .describe('The same key and arguments again start nothing more: send one where a call may be repeated'),
    }),
    output: START_RUN.answer.loose(),
    run: ({ idempotency_key, ...body }, { target, signal }) => {
      const header = idempotency_key === undefined ? {} : { 'Idempotency-Key': idempotency_key }
      // The schema of the arguments is that of the body; free JSON values have no type there.
      const request = { params: { header }, body: body as never, signal }
      return callApi(target, START_RUN.answer.loose(), (api) => api.POST('/api/dag/run', request))
    },
  }),
  WATCH_RUN,
  tool({
    name: 'run_status',
    title: 'Status of a run',
    description:
      'How a run stands: its state and reason, what it waits for, its blocks with gates and cost, its approvals.',
    input: RunParamsSchema,
    output: StatusSchema,
    reads: true,
    run: async ({ run_id }, { target, signal }) => {
      const whole = await callApi(target, GET.answer.loose(), (api) =>
        api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } }, signal }),
      )
      const { dag: _, steps: _steps, ...status } = whole
      return status
    },
  }),
  tool({
    name: 'list_runs',
    title: 'List runs',
    description: 'Runs, newest first, by the state shown.',
    input: LIST.query.extend({ limit: z.int().min(1).max(500).default(20) }),
    output: LIST.answer.loose(),
    reads: true,
    run: (query, { target, signal }) =>
      callApi(target, LIST.answer.loose(), (api) =>
        api.GET('/api/dag/runs', { params: { query: present(query) }, signal }),
      ),
  }),
  tool({
    name: 'stop_run',
    title: 'Stop a run',
    description: 'Cancels a run, or with block_id one block of it: then the run goes on without it and ends failed.',
    input: RunParamsSchema.extend(STOP.body.shape),
    output: STOP.answer.loose(),
    destroys: true,
    run: ({ run_id, ...body }, { target, signal }) =>
      callApi(target, STOP.answer.loose(), (api) =>
        api.POST('/api/dag/runs/{run_id}/stop', { params: { path: { run_id } }, body: present(body), signal }),
      ),
  }),
]
