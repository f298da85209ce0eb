import * as z from 'zod'
import { RUN_ROUTES } from '../../shared/api/run-routes.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { callApi, type Target } from './api.ts'

const text = z.string()

const VerdictSchema = z.looseObject({ gate: text, status: text, reason: text })

const BlockSchema = z.looseObject({
  state: text,
  attempt: z.int(),
  max_attempts: z.int().optional(),
  started_at: text.optional(),
  ended_at: text.optional(),
  gates: z.array(VerdictSchema).default([]),
  error: z.looseObject({ code: text, reason: text }).optional(),
})

const ApprovalSchema = z.looseObject({
  approval_id: text,
  block_id: text,
  status: text,
  prompt: text,
  shown: z.record(text, z.unknown()),
  digest: text,
  requested_at: text.optional(),
  expires_at: text,
  decided_by: text.optional(),
  decided_at: text.optional(),
  via: text.optional(),
})
export type Approval = z.infer<typeof ApprovalSchema>

/** The parts of GET run that the CLI shows; a newer server may say more. */
const RunAnswerSchema = z.looseObject({
  run: z.looseObject({
    run_id: text,
    dag_name: text,
    state: text,
    reason: text.optional(),
    waiting_for: text.optional(),
    created_at: text,
    started_at: text.optional(),
    ended_at: text.optional(),
  }),
  blocks: z.record(text, BlockSchema),
  approvals: z.array(ApprovalSchema).default([]),
})
export type RunAnswer = z.infer<typeof RunAnswerSchema>

/** Path of a run's routes: ids go into it encoded, whatever a person typed. */
export function runPath(runId: string, rest = ''): string {
  return `/api/dag/runs/${encodeURIComponent(runId)}${rest}`
}

export function fetchRun(target: Target, runId: string): Promise<RunAnswer> {
  return callApi(target, RunAnswerSchema, { path: runPath(runId) })
}

/** Every stored event after `since`, page by page. */
export async function fetchEvents(target: Target, runId: string, since = 0): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = []
  for (let after = since; ; ) {
    const page = await callApi(target, PageSchema, { path: runPath(runId, `/replay?since=${after}&limit=1000`) })
    // As in follow-events.ts: a newer server's types pass through to readers that have a default.
    events.push(...(page.events as unknown as readonly RunEvent[]))
    if (page.events.length === 0 || page.next_since <= after) return events
    after = page.next_since
  }
}

const PageSchema = RUN_ROUTES['replay-run'].answer
  .extend({ events: z.array(z.looseObject({ seq: z.int(), type: text })) })
  .loose()
