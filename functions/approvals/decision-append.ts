import type { Decision } from '../../shared/api/control-routes.ts'
import { type Declared, type Principal, personName, principalName } from '../../shared/principal.ts'
import type { Append } from '../../shared/runs/append.ts'
import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import { decidedBy, voteOf } from '../../shared/runs/approval-rules.ts'
import { approverRule, policyHash } from '../../shared/runs/approver-rule.ts'
import { approvalLane, askNumber } from '../../shared/runs/ask-id.ts'
import { OUTBOX_GRACE_MS } from '../../shared/runs/check-at.ts'
import type { EventData, NewEvent } from '../../shared/runs/event.ts'
import type { HeadApproval } from '../../shared/runs/head.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import { peopleOf } from '../../shared/runs/people.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { shortText } from '../blocks/short-text.ts'
import type { StoredDecision } from './check-decision.ts'
import { deadlineAfterPause } from './deadline-after-pause.ts'
import { notifyEntry } from './notify-entry.ts'
import type { Picked } from './pick-approval.ts'

/** Votes count up from here. */
const VOTES = 60

interface Deciding extends Picked {
  readonly principal: Principal
  readonly declared: Declared | undefined
  readonly decision: Decision
  readonly stored: StoredDecision
}

type DecidingAppend = Append & { readonly approval: NonNullable<Append['approval']> }

/** The one append of a decision, against the approval exactly as it was read: a vote that is not the last leaves it pending. */
export async function decisionAppend(
  world: Pick<World, 'runs' | 'clock' | 'settings'>,
  run: RunKey,
  deciding: Deciding,
): Promise<DecidingAppend> {
  const { id, item, head, approval } = deciding
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const set = decidedApproval(deciding, at)
  const isOpen = set.status === 'pending'
  const phase = isOpen ? VOTES + (set.votes?.length ?? 0) : PHASE.completed
  const place = ordinal({ epoch: approvalEpoch(id), attempt: askNumber(id) ?? 0, phase })
  const outbox = [
    ...(isOpen ? [] : [{ id: `token-${id}`, at, kind: 'send_token', approval_id: id } as const]),
    ...notifyEntry(world, run, at, isOpen ? 'voted' : 'decided', id),
  ]
  return {
    run,
    lane: approvalLane(id, item.block),
    ordinal: place,
    guard: { below: place },
    at,
    events: [decidedEvent(world, deciding, set, now)],
    approval: { id, was: approval, set },
    ...(set.status === 'approved' && item.raise !== undefined ? { raise: item.raise } : {}),
    outbox,
    ...(outbox.length === 0 ? {} : { check_at: new Date(now + OUTBOX_GRACE_MS).toISOString() }),
    ...(isOpen ? {} : await deadlineAfterPause(world, run, head, now)),
  }
}

/** A decision before it is known to be one. */
export type Refusable = Omit<Deciding, 'stored'>

/** Refusals a run records; whoever goes on after them is refused all the same. */
const RECORDED_REFUSALS = 100

/**
 * The append of a decision that does not count, which leaves the approval exactly as it was read; undefined once enough of
 * them are recorded. The lane's ordinal is their number.
 */
export function refusedAppend(
  world: Pick<World, 'clock'>,
  run: RunKey,
  { id, head, approval, principal, declared, decision }: Refusable,
  { code, reason }: Pick<EventData<'approval:refused'>, 'code' | 'reason'>,
): Append | undefined {
  const recorded = head.lanes[REFUSALS] ?? 0
  if (recorded >= RECORDED_REFUSALS) return undefined
  const person = otherName(principal)
  const data: EventData<'approval:refused'> = {
    approval_id: id,
    decision: decision.decision,
    by: { kind: principal.kind, id: principal.id },
    ...(person === undefined ? {} : { person }),
    via: principal.via ?? 'api',
    ...(declared === undefined ? {} : { declared }),
    code,
    reason: shortText(reason, 300),
  }
  return {
    run,
    lane: REFUSALS,
    ordinal: recorded + 1,
    guard: { is: head.lanes[REFUSALS] ?? null },
    at: new Date(world.clock.now()).toISOString(),
    events: [{ type: 'approval:refused', data }],
    approval: { id, was: approval, set: approval },
  }
}

const REFUSALS = 'refused'

/** The person, where the principal has another name. */
function otherName(principal: Principal): string | undefined {
  const person = personName(principal)
  return person === principalName(principal) ? undefined : person
}

function decidedApproval(
  { item, approval, principal, declared, decision, stored }: Deciding,
  at: string,
): HeadApproval {
  const by = principalName(principal)
  const vote = voteOf({ by, person: otherName(principal), via: principal.via ?? 'api', declared }, at)
  const { feedback_ref, edits_ref, iterate } = stored
  const isYes = decision.decision !== 'reject'
  const need = item.quorum ?? 1
  const votes = isYes && need > 1 ? { votes: [...(approval.votes ?? []), vote] } : {}
  if (isYes && need > 1 && votes.votes !== undefined && votes.votes.length < need) return { ...approval, ...votes }
  const { next_at: _, ...rest } = approval
  return {
    ...rest,
    ...votes,
    status: isYes ? 'approved' : 'rejected',
    ...decidedBy(vote),
    ...(feedback_ref === undefined ? {} : { feedback_ref }),
    ...(edits_ref === undefined ? {} : { edits_ref }),
    ...(iterate === undefined ? {} : { iterate }),
  }
}

function decidedEvent(
  world: Pick<World, 'settings'>,
  { id, item, approval, principal, declared, decision, stored }: Deciding,
  set: HeadApproval,
  now: number,
): NewEvent {
  const { feedback_ref, edits_ref, edits_hash, iterate } = stored
  const people = peopleOf(world.settings)
  const person = otherName(principal)
  const data: EventData<'approval:decided'> = {
    approval_id: id,
    decision: decision.decision,
    by: { kind: principal.kind, id: principal.id },
    ...(person === undefined ? {} : { person }),
    via: principal.via ?? 'api',
    ...(declared === undefined ? {} : { declared }),
    digest: item.digest,
    ...(feedback_ref === undefined ? {} : { feedback_ref }),
    // Votes so far, this one among them if it is a yes.
    have: (item.quorum ?? 1) > 1 ? (set.votes?.length ?? 0) : Number(set.status === 'approved'),
    need: item.quorum ?? 1,
    waited_ms: Math.max(0, now - Date.parse(item.requested_at)),
    policy: approverRule(item, approval, principalName(principal), people, person) ?? 'nobody',
    policy_hash: policyHash(item, approval, people),
    ...(edits_ref === undefined ? {} : { edits_ref }),
    ...(edits_hash === undefined ? {} : { edits_hash }),
    ...(iterate === undefined ? {} : { iterate }),
  }
  return { type: 'approval:decided', block_id: item.block_id, data }
}
