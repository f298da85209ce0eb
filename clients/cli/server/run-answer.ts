import * as z from 'zod'
import { DeclaredSchema } from '../../../shared/auth/principal.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { callApi, type Target } from './api.ts'

const text = z.string()

const VoteSchema = z.looseObject({
  by: text,
  person: text.optional(),
  via: text,
  declared: DeclaredSchema.optional(),
  at: text,
  feedback: text.optional(),
})

/** What the CLI shows of one approval, in GET run and in the inbox; a newer server may say more. */
export const ApprovalSchema = z.looseObject({
  approval_id: text,
  block_id: text,
  status: text,
  prompt: text,
  shown: z.record(text, z.unknown()),
  digest: text,
  expires_at: text,
  about: text.optional(),
  gates: z
    .array(z.looseObject({ name: text, reason: text }))
    .readonly()
    .optional(),
  changes: z
    .looseObject({
      overrides: z
        .array(z.looseObject({ port: text, value: text, sha256: text }))
        .readonly()
        .optional(),
      context: z
        .array(
          z.looseObject({
            key: text,
            version: z.int(),
            by: text.optional(),
            value: text.optional(),
            from: text.optional(),
          }),
        )
        .readonly()
        .optional(),
      document: z
        .looseObject({
          of: text,
          dag_hash: text,
          added: z.array(text).readonly(),
          removed: z.array(text).readonly(),
          changed: z.array(text).readonly(),
          other: z.boolean(),
        })
        .optional(),
    })
    .optional(),
  raise: z.looseObject({ tokens: z.number().optional(), usd: z.number().optional() }).optional(),
  edit: z.array(text).readonly().optional(),
  edits: z.unknown().optional(),
  on_timeout: text.optional(),
  quorum: z.int().optional(),
  votes: z.array(VoteSchema).readonly().optional(),
  reminded: z.int().optional(),
  escalated_to: z.array(text).readonly().optional(),
  iterate: text.optional(),
  decided_by: text.optional(),
  decided_at: text.optional(),
  feedback: text.optional(),
})
export type Approval = z.infer<typeof ApprovalSchema>

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
  cached_from: string.optional(),
  item_count: z.int().optional(),
  items: z.record(string, z.object({ state: string })).optional(),
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
