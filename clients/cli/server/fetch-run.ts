import * as z from 'zod'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { callApi, type Target } from './api.ts'
import { ApprovalSchema } from './approval-schema.ts'

const string = z.string()

const BlockSchema = z.looseObject({
  state: string,
  attempt: z.int(),
  max_attempts: z.int(),
  untried: z.int().optional(),
  started_at: string.optional(),
  ended_at: string.optional(),
  gates: z.array(z.looseObject({ gate: string, status: string, reason: string })).readonly(),
  error: z.looseObject({ code: string, reason: string }).optional(),
  because: z.array(string).readonly().optional(),
  condition: string.optional(),
  child: string.optional(),
  wait: z
    .looseObject({
      for: z.enum(['time', 'event', 'callback']),
      until: string,
      name: string.optional(),
      key: string.optional(),
      ended_at: string.optional(),
    })
    .optional(),
  cached_from: string.optional(),
  progress: z.looseObject({ fraction: z.number(), note: string }).optional(),
  log: z
    .looseObject({ ref: string, bytes: z.number(), lines: z.number(), tail: z.array(string).readonly() })
    .optional(),
  item_count: z.int().optional(),
  items: z
    .record(
      string,
      z.object({
        state: string,
        tool: string.optional(),
        error: z.looseObject({ code: string }).optional(),
      }),
    )
    .optional(),
  first_turn: z.int().optional(),
})

/** What the CLI shows of GET run (shared/api/run-routes.ts has all of it); a newer server may say more. */
const RunAnswerSchema = z.looseObject({
  run: z.looseObject({
    run_id: string,
    dag_name: string,
    state: string,
    reason: string.optional(),
    waiting_for: string.optional(),
    parent: z.looseObject({ run_id: string, block_id: string }).optional(),
    continues: string.optional(),
    retry_of: string.optional(),
    iterates: string.optional(),
    retried_by: z.array(string).readonly().optional(),
    continued_by: z.array(string).readonly().optional(),
    next_run: string.optional(),
    pivots: string.optional(),
    pivoted_by: string.optional(),
    final_status: string.optional(),
    row: z.union([string, z.number()]).optional(),
    labels: z.record(string, string).optional(),
    goal: z.looseObject({ met: z.int(), total: z.int(), attempt: z.int() }).optional(),
    started_at: string.optional(),
    ended_at: string.optional(),
    tokens: z.number(),
    usd: z.number().nullable(),
    unpriced_tokens: z.number().optional(),
  }),
  blocks: z.record(string, BlockSchema),
  steps: z.array(z.looseObject({ block_id: string })).readonly(),
  approvals: z.array(ApprovalSchema).readonly(),
  dag: z.looseObject({
    blocks: z
      .array(
        z.looseObject({
          id: string,
          mode: string,
          step: z.looseObject({ kind: string, hash: string }).optional(),
          inputs: z.record(string, z.looseObject({ type: string })).optional(),
          upstream: z.array(string).readonly(),
          outputs: z.record(string, z.looseObject({ type: string })),
        }),
      )
      .readonly(),
  }),
})
export type RunAnswer = z.infer<typeof RunAnswerSchema>

export function fetchRun(target: Target, runId: string): Promise<RunAnswer> {
  return callApi(target, RunAnswerSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id: runId } } }),
  )
}

/** Every stored event after `since`, page by page. */
export async function fetchEvents(target: Target, runId: string, since = 0): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = []
  for (let after = since; ; ) {
    const params = { path: { run_id: runId }, query: { since: after, limit: 1_000 } }
    const page = await callApi(target, PageSchema, (api) => api.GET('/api/dag/runs/{run_id}/replay', { params }))
    // As in event-stream.ts: a newer server's types pass through to readers that have a default.
    events.push(...(page.events as unknown as readonly RunEvent[]))
    if (page.events.length === 0 || page.next_since <= after) return events
    after = page.next_since
  }
}

const PageSchema = z.looseObject({
  events: z.array(z.looseObject({ seq: z.int(), type: string, at: string, data: z.looseObject({}) })),
  next_since: z.int(),
})
