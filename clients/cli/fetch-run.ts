import * as z from 'zod'
import type { RunEvent } from '../../shared/runs/event.ts'
import { callApi, type Target } from './api.ts'
import { ApprovalSchema } from './approval-answer.ts'

const text = z.string()

const BlockSchema = z.looseObject({
  state: text,
  attempt: z.int(),
  max_attempts: z.int(),
  untried: z.int().optional(),
  started_at: text.optional(),
  ended_at: text.optional(),
  gates: z.array(z.looseObject({ gate: text, status: text, reason: text })).readonly(),
  error: z.looseObject({ code: text, reason: text }).optional(),
  because: z.array(text).readonly().optional(),
  condition: text.optional(),
  child: text.optional(),
  cached_from: text.optional(),
  item_count: z.int().optional(),
  items: z.record(text, z.object({ state: text })).optional(),
})

/** What the CLI shows of GET run (shared/api/get-run.ts has all of it); a newer server may say more. */
const RunAnswerSchema = z.looseObject({
  run: z.looseObject({
    run_id: text,
    dag_name: text,
    state: text,
    reason: text.optional(),
    waiting_for: text.optional(),
    parent: z.looseObject({ run_id: text, block_id: text }).optional(),
    continues: text.optional(),
    retry_of: text.optional(),
    iterates: text.optional(),
    retried_by: z.array(text).readonly().optional(),
    continued_by: z.array(text).readonly().optional(),
    next_run: text.optional(),
    pivots: text.optional(),
    pivoted_by: text.optional(),
    final_status: text.optional(),
    row: z.union([text, z.number()]).optional(),
    goal: z.looseObject({ met: z.int(), total: z.int(), attempt: z.int() }).optional(),
    started_at: text.optional(),
    ended_at: text.optional(),
    tokens: z.number(),
    usd: z.number().nullable(),
    unpriced_tokens: z.number().optional(),
  }),
  blocks: z.record(text, BlockSchema),
  steps: z.array(z.looseObject({ block_id: text })).readonly(),
  approvals: z.array(ApprovalSchema).readonly(),
  dag: z.looseObject({
    blocks: z
      .array(
        z.looseObject({
          id: text,
          mode: text,
          inputs: z.record(text, z.looseObject({ type: text })).optional(),
          upstream: z.array(text).readonly(),
          outputs: z.record(text, z.looseObject({ type: text })),
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
    // As in follow-events.ts: a newer server's types pass through to readers that have a default.
    events.push(...(page.events as unknown as readonly RunEvent[]))
    if (page.events.length === 0 || page.next_since <= after) return events
    after = page.next_since
  }
}

const PageSchema = z.looseObject({
  events: z.array(z.looseObject({ seq: z.int(), type: text, at: text, data: z.looseObject({}) })),
  next_since: z.int(),
})
