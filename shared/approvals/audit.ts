import type { EventData, RunEvent } from '../runs/event.ts'
import { CHAIN_START, chainHash } from '../runs/hash-chain.ts'
import { redactSecrets, redactSecretsIn } from '../text/redact.ts'

/** What GET run says of one approval, as far as a record of it needs that. */
export interface AuditedApproval {
  readonly approval_id: string
  readonly prompt: string
  readonly shown_refs: Readonly<Record<string, { readonly sha256: string }>>
  readonly gates?: readonly { readonly name: string; readonly reason: string }[] | undefined
  readonly raise?: { readonly tokens?: number | undefined; readonly usd?: number | undefined } | undefined
  readonly feedback?: string | undefined
  readonly votes?:
    | readonly { readonly by: string; readonly at: string; readonly feedback?: string | undefined }[]
    | undefined
}

type AuditKind = 'requested' | 'decided' | 'vote' | 'refused' | 'reminded' | 'escalated' | 'expired' | 'waived'

/**
 * One line of the record of decisions. `hash` is the event chain's at `seq`: `run verify` computes the same of the stored
 * events, so that a line cannot be changed, left out or made up beside them.
 */
export interface AuditLine {
  readonly kind: AuditKind
  readonly run_id: string
  readonly dag_name: string
  readonly dag_hash: string
  readonly approval_id: string
  readonly block_id: string
  readonly about: string
  readonly seq: number
  readonly hash: string
  readonly at: string
  readonly [member: string]: unknown
}

interface AuditedRun {
  readonly run_id: string
  readonly dag_name: string
  readonly dag_hash: string
  readonly approvals: readonly AuditedApproval[]
}

/** The record of one run, in the order of its events; these must be all of them from the first. */
export function auditLines(events: readonly RunEvent[], run: AuditedRun): readonly AuditLine[] {
  const known = new Map(run.approvals.map((approval) => [approval.approval_id, approval]))
  const requests = new Map<string, Extract<RunEvent, { readonly type: 'approval:requested' }>>()
  const { run_id, dag_name, dag_hash } = run
  let hash = CHAIN_START
  return events.flatMap((event): readonly AuditLine[] => {
    hash = chainHash(hash, event)
    if (event.type === 'approval:requested') requests.set(event.data.approval_id, event)
    const told = toldBy(event)
    if (told === undefined) return []
    const { kind, approval_id, ...data } = told
    const asked = requests.get(approval_id)
    const about = asked?.data.about ?? 'dispatch'
    const { seq, at, block_id = asked?.block_id ?? '' } = event
    const place = { kind, run_id, dag_name, dag_hash, approval_id, block_id, about, seq, hash, at }
    return [{ ...place, ...data, ...described(event, known.get(approval_id)) }]
  })
}

interface Told {
  readonly kind: AuditKind
  readonly approval_id: string
  readonly [member: string]: unknown
}

function toldBy(event: RunEvent): Told | undefined {
  switch (event.type) {
    case 'approval:requested':
      return { kind: 'requested', ...event.data }
    case 'approval:decided':
      return decisionOf(event.data)
    case 'approval:refused':
      return refusalOf(event.data)
    case 'approval:expired':
      return { kind: 'expired', ...event.data }
    case 'approval:reminded':
      return { kind: 'reminded', ...event.data }
    case 'approval:escalated':
      return { kind: 'escalated', ...event.data }
    case 'block:gate':
      return waiverOf(event.data)
    default:
      return undefined
  }
}

function decisionOf({ by, via, feedback_ref, edits_ref: _, ...data }: EventData<'approval:decided'>): Told {
  const isVote = data.decision !== 'reject' && data.have < data.need
  const why_ref = feedback_ref === undefined ? {} : { why_ref: feedback_ref }
  return { ...data, kind: isVote ? 'vote' : 'decided', who: by, source: via, ...why_ref }
}

function refusalOf({ by, via, ...data }: EventData<'approval:refused'>): Told {
  return { ...data, kind: 'refused', who: by, source: via }
}

/** The verdict that stands in the place of a failed one: it names the decision it follows. */
function waiverOf({ gate, type, phase, status, facts }: EventData<'block:gate'>): Told | undefined {
  if (status !== 'waived' || typeof facts !== 'object' || facts === null) return undefined
  const { approval_id, by, via } = facts as Readonly<Record<string, unknown>>
  if (typeof approval_id !== 'string') return undefined
  return { kind: 'waived', approval_id, gate, gate_type: type, phase, who: by, source: via }
}

/** Words and hashes that events have no room for; the digest of the event binds them. */
function described(event: RunEvent, approval: AuditedApproval | undefined): Readonly<Record<string, unknown>> {
  if (approval === undefined) return {}
  if (event.type === 'approval:requested') {
    const { prompt, gates, raise } = approval
    const asked = { ...(gates === undefined ? {} : { gates }), ...(raise === undefined ? {} : { raise }) }
    return redactSecretsIn({ prompt, shown: hashesOf(approval), ...asked })
  }
  if (event.type !== 'approval:decided') return {}
  const why = event.data.feedback_ref === undefined ? undefined : whyOf(event, approval)
  return { shown: hashesOf(approval), ...(why === undefined ? {} : { why: redactSecrets(why) }) }
}

function hashesOf({ shown_refs }: AuditedApproval): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(shown_refs).map(([port, { sha256 }]) => [port, sha256]))
}

function whyOf(
  { at, data }: Extract<RunEvent, { readonly type: 'approval:decided' }>,
  { feedback, votes = [] }: AuditedApproval,
): string | undefined {
  const vote = votes.find((one) => one.at === at && one.by === `${data.by.kind}:${data.by.id}`)
  return vote?.feedback ?? (data.decision !== 'reject' && data.have < data.need ? undefined : feedback)
}
