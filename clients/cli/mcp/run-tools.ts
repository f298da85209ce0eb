import * as z from 'zod'
import { CONTROL_ROUTES } from '../../../shared/api/control-routes.ts'
import { PAUSE_ROUTES } from '../../../shared/api/pause-routes.ts'
import { RunParamsSchema } from '../../../shared/api/route-schema.ts'
import { RUN_ROUTES } from '../../../shared/api/run-routes.ts'
import { SEARCH_ROUTES } from '../../../shared/api/search-routes.ts'
import { START_RUN } from '../../../shared/api/start-run-route.ts'
import { isRunEnd } from '../../../shared/runs/event-types.ts'
import { agentItemNames } from '../../../shared/runs/turns-and-calls.ts'
import { FIELD_NAMES, queryField } from '../../../shared/search-runs/fields.ts'
import { eventLine } from '../run/events.ts'
import { failedTail } from '../run/log.ts'
import { callApi } from '../server/api.ts'
import { followEvents } from '../server/event-stream.ts'
import { fetchRun } from '../server/fetch-run.ts'
import { defineTool, type Tool, type ToolCall, withoutUndefined } from './tool.ts'

/** Lines in one answer: the newest. */
const MOST_LINES = 200

const WatchSchema = RunParamsSchema.extend({
  since: z.int().min(0).default(0).describe('Events after this seq: last_seq of the answer before'),
  wait_sec: z.int().min(1).max(600).default(60).describe('Seconds to wait for the end at most'),
})

const WATCH_RUN = defineTool({
  name: 'watch_run',
  title: 'Watch a run',
  description:
    'Follows a run until it ends, or for wait_sec seconds: a progress notification an event, then where it stands. Call again with since = last_seq while ended is false.',
  input: WatchSchema,
  output: z.looseObject({
    run_id: z.string(),
    ended: z.boolean(),
    state: z.string(),
    reason: z.string().optional(),
    waiting_for: z.string().optional(),
    last_seq: z.int(),
    events: z.array(z.string()).describe('A line an event, newest last'),
    events_cut: z.boolean(),
    approvals: z
      .array(z.looseObject({ approval_id: z.string(), block_id: z.string() }))
      .describe('Those that are open'),
  }),
  reads: true,
  async run({ run_id, since, wait_sec }, call) {
    const seen = await follow(run_id, { since, wait_sec }, call)
    const { run, approvals } = await fetchRun(call.target, run_id)
    const { state, reason, waiting_for } = run
    const open = approvals.filter(({ status }) => status === 'pending')
    return {
      run_id,
      ended: seen.ended,
      state,
      ...(reason === undefined ? {} : { reason }),
      ...(waiting_for === undefined ? {} : { waiting_for }),
      last_seq: seen.last_seq,
      events: seen.lines.slice(-MOST_LINES),
      events_cut: seen.lines.length > MOST_LINES,
      approvals: open.map(({ approval_id, block_id, prompt }) => ({ approval_id, block_id, prompt })),
    }
  },
})

async function follow(
  runId: string,
  { since, wait_sec }: Pick<z.output<typeof WatchSchema>, 'since' | 'wait_sec'>,
  { target, signal, progress }: ToolCall,
) {
  const seen = { ended: false, last_seq: since, lines: [] as string[] }
  const over = AbortSignal.timeout(wait_sec * 1_000)
  let start: number | undefined
  const names = agentItemNames(since > 0 ? (await fetchRun(target, runId)).blocks : {})
  try {
    for await (const event of followEvents(target, { runId, since, signal: AbortSignal.any([signal, over]) })) {
      start ??= Date.parse(event.at)
      seen.last_seq = event.seq
      seen.ended = isRunEnd(event.type)
      const line = eventLine(event, start, { item: names(event) })
      if (line === undefined) continue
      seen.lines.push(line.trim(), ...failedTail(event))
      await progress(event.seq, line.trim())
    }
    // Nothing more will come: it had ended before `since`.
    seen.ended = true
  } catch (error) {
    if (!over.aborted || signal.aborted) throw error
  }
  return seen
}

const LIST = RUN_ROUTES['list-runs']
const GET = RUN_ROUTES['get-run']
const STOP = CONTROL_ROUTES['stop-run']
const PAUSE = PAUSE_ROUTES['pause-run']
const RESUME = PAUSE_ROUTES['resume-run']
const SEARCH = SEARCH_ROUTES['search-runs']
const NOTE = SEARCH_ROUTES['add-note']

const StatusSchema = GET.answer.omit({ dag: true, steps: true }).loose()

/** Tools that start, show and stop runs. */
export const RUN_TOOLS: readonly Tool[] = [
  defineTool({
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
  defineTool({
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
  defineTool({
    name: 'list_runs',
    title: 'List runs',
    description: 'Runs, newest first, by the state shown.',
    input: LIST.query.extend({ limit: z.int().min(1).max(500).default(20) }),
    output: LIST.answer.loose(),
    reads: true,
    run: (query, { target, signal }) =>
      callApi(target, LIST.answer.loose(), (api) =>
        api.GET('/api/dag/runs', { params: { query: withoutUndefined(query) }, signal }),
      ),
  }),
  defineTool({
    name: 'search_runs',
    title: 'Search runs',
    description: `Runs that a search finds, newest first. Terms, which all have to hold: ${FIELD_NAMES.map((name) => queryField(name).example).join(' ')}; words of marked inputs and outputs and of why a run failed; "-" before a term: it must not hold.`,
    input: SEARCH.query.extend({ limit: z.int().min(1).max(200).default(20) }),
    output: SEARCH.answer.loose(),
    reads: true,
    run: (query, { target, signal }) =>
      callApi(target, SEARCH.answer.loose(), (api) =>
        api.GET('/api/dag/search', { params: { query: withoutUndefined(query) }, signal }),
      ),
  }),
  defineTool({
    name: 'annotate_run',
    title: 'Label a run, or write a note',
    description:
      'Changes the labels a run is found by, or writes a note to it; also after its end. Each is kept with who did it.',
    input: NOTE.body.safeExtend(RunParamsSchema.shape),
    output: NOTE.answer.loose(),
    run: ({ run_id, ...body }, { target, signal }) =>
      callApi(target, NOTE.answer.loose(), (api) =>
        api.POST('/api/dag/runs/{run_id}/notes', {
          params: { path: { run_id } },
          // The schema of the arguments is that of the body.
          body: body as never,
          signal,
        }),
      ),
  }),
  defineTool({
    name: 'pause_run',
    title: 'Pause a run',
    description: 'What is at work ends, nothing of the run begins, and its deadlines stand still until resume_run.',
    input: RunParamsSchema.extend(PAUSE.body.shape),
    output: PAUSE.answer.loose(),
    run: ({ run_id, ...body }, { target, signal }) =>
      callApi(target, PAUSE.answer.loose(), (api) =>
        api.POST('/api/dag/runs/{run_id}/pause', {
          params: { path: { run_id } },
          body: withoutUndefined(body),
          signal,
        }),
      ),
  }),
  defineTool({
    name: 'resume_run',
    title: 'Resume a run',
    description: 'Lets a paused run go on; its deadlines move on by the time it stood.',
    input: RunParamsSchema.extend(RESUME.body.shape),
    output: RESUME.answer.loose(),
    run: ({ run_id, ...body }, { target, signal }) =>
      callApi(target, RESUME.answer.loose(), (api) =>
        api.POST('/api/dag/runs/{run_id}/resume', {
          params: { path: { run_id } },
          body: withoutUndefined(body),
          signal,
        }),
      ),
  }),
  defineTool({
    name: 'stop_run',
    title: 'Stop a run',
    description: 'Cancels a run, or with block_id one block of it: then the run goes on without it and ends failed.',
    input: RunParamsSchema.extend(STOP.body.shape),
    output: STOP.answer.loose(),
    destroys: true,
    run: ({ run_id, ...body }, { target, signal }) =>
      callApi(target, STOP.answer.loose(), (api) =>
        api.POST('/api/dag/runs/{run_id}/stop', { params: { path: { run_id } }, body: withoutUndefined(body), signal }),
      ),
  }),
]
