import * as z from 'zod'
import { RunParamsSchema } from '../../../shared/api/route-schema.ts'
import { isRunEnd } from '../../../shared/runs/is-run-end.ts'
import { eventLine } from '../event-line.ts'
import { fetchRun } from '../fetch-run.ts'
import { followEvents } from '../follow-events.ts'
import { type ToolCall, tool } from './tool.ts'

/** Lines in one answer: the newest. */
const MOST_LINES = 200

const WatchSchema = RunParamsSchema.extend({
  since: z.int().min(0).default(0).describe('Events after this seq: last_seq of the answer before'),
  wait_sec: z.int().min(1).max(600).default(60).describe('Seconds to wait for the end at most'),
})

export const WATCH_RUN = tool({
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
  try {
    for await (const event of followEvents(target, { runId, since, signal: AbortSignal.any([signal, over]) })) {
      start ??= Date.parse(event.at)
      seen.last_seq = event.seq
      seen.ended = isRunEnd(event.type)
      const line = eventLine(event, start)
      if (line === undefined) continue
      seen.lines.push(line.trim())
      await progress(event.seq, line.trim())
    }
    // Nothing more will come: it had ended before `since`.
    seen.ended = true
  } catch (error) {
    if (!over.aborted || signal.aborted) throw error
  }
  return seen
}
