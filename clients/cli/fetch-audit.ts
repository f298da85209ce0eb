import * as z from 'zod'
import { type AuditLine, auditLines } from '../../shared/approvals/audit-lines.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { callApi, type Target } from './api.ts'
import { fetchEvents } from './fetch-run.ts'

const text = z.string()

/** What the record of decisions takes from GET run; a newer server may say more. */
export const AuditedRunSchema = z.looseObject({
  run: z.looseObject({ run_id: text, dag_name: text, dag_hash: text, last_seq: z.int() }),
  approvals: z
    .array(
      z.looseObject({
        approval_id: text,
        prompt: text,
        shown_refs: z.record(text, z.looseObject({ sha256: text })),
        gates: z.array(z.looseObject({ name: text, reason: text })).optional(),
        raise: z.looseObject({ tokens: z.number().optional(), usd: z.number().optional() }).optional(),
        feedback: text.optional(),
        votes: z.array(z.looseObject({ by: text, at: text, feedback: text.optional() })).optional(),
      }),
    )
    .readonly(),
})
type AuditedRun = z.infer<typeof AuditedRunSchema>

/** The record of one run, made here of its events. */
export async function fetchAudit(target: Target, runId: string): Promise<readonly AuditLine[]> {
  const answer = await callApi(target, AuditedRunSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id: runId } } }),
  )
  return auditOf(answer, await fetchEvents(target, runId))
}

/** What happened after the run was read waits for the next time: its words are not there yet. */
export function auditOf({ run, approvals }: AuditedRun, events: readonly RunEvent[]): readonly AuditLine[] {
  const { run_id, dag_name, dag_hash, last_seq } = run
  const seen = events.filter(({ seq }) => seq <= last_seq)
  return auditLines(seen, { run_id, dag_name, dag_hash, approvals })
}
