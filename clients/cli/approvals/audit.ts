import * as z from 'zod'
import { type AuditLine, auditLines } from '../../../shared/approvals/audit.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import { callApi, type Target } from '../server/api.ts'
import { fetchEvents } from '../server/fetch-run.ts'

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
  return auditRun(answer, await fetchEvents(target, runId))
}

/** What happened after the run was read waits for the next time: its words are not there yet. */
export function auditRun({ run, approvals }: AuditedRun, events: readonly RunEvent[]): readonly AuditLine[] {
  const { run_id, dag_name, dag_hash, last_seq } = run
  const seen = events.filter(({ seq }) => seq <= last_seq)
  return auditLines(seen, { run_id, dag_name, dag_hash, approvals })
}

/**
 * What is wrong with an exported record of decisions, against the same made anew of the run's events: a line that was
 * changed, made up, or left out between others of its run. Lines of other runs are not looked at.
 */
export function auditProblems(file: string, runId: string, own: readonly AuditLine[]): readonly string[] {
  const lines = file.split('\n').flatMap((text, i): readonly ReadLine[] => {
    if (text.trim() === '') return []
    const value = parsed(text)
    return value?.run_id === undefined || value.run_id === runId ? [{ number: i + 1, value }] : []
  })
  const known = new Map(own.map((line) => [line.seq, line]))
  const changed = lines.flatMap(({ number, value }) => {
    if (value === undefined) return [`line ${number} is no JSON object`]
    const told = known.get(Number(value.seq))
    if (told === undefined)
      return [`line ${number} tells of event ${String(value.seq)}, which is no decision of this run`]
    if (canonicalJson(value as Json) === canonicalJson(told as unknown as Json)) return []
    return [`line ${number} (event ${told.seq}) differs in ${differing(value, told).join(', ')}`]
  })
  const seqs = new Set(lines.map(({ value }) => Number(value?.seq)))
  const last = Math.max(...seqs)
  const first = Math.min(...seqs)
  const missing = own.filter(({ seq }) => seq > first && seq < last && !seqs.has(seq))
  return [...changed, ...missing.map(({ seq, kind }) => `the line of event ${seq} (${kind}) is left out`)]
}

interface ReadLine {
  readonly number: number
  readonly value: Readonly<Record<string, unknown>> | undefined
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function differing(given: Readonly<Record<string, unknown>>, told: AuditLine): readonly string[] {
  const names = [...new Set([...Object.keys(given), ...Object.keys(told)])]
  const text = (value: unknown) => (value === undefined ? '' : canonicalJson(value as Json))
  return names.filter((name) => text(given[name]) !== text(told[name]))
}
