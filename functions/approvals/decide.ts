import type { Decision } from '../../shared/api/control-routes.ts'
import type { Declared } from '../../shared/auth/declared-client.ts'
import { type Principal, personName, principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import { decisionFields, policyHash, ruleThatAllows, toVote } from '../../shared/runs/approval.ts'
import { earlierDecisionWords } from '../../shared/runs/approval-words.ts'
import { type EventData, type NewEvent, REFUSED_CODES } from '../../shared/runs/event.ts'
import { type HeadApproval, OUTBOX_GRACE_MS } from '../../shared/runs/head.ts'
import { approvalEpoch, approvalLane, questionNumber } from '../../shared/runs/ids.ts'
import { ordinal, PHASE } from '../../shared/runs/lane.ts'
import { runClock } from '../../shared/runs/pause.ts'
import { peopleOf } from '../../shared/runs/people.ts'
import type { Append, RunKey } from '../../shared/runs/run-store.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { World } from '../../shared/world.ts'
import { openCountedStorage } from '../record/storage-quota.ts'
import { expireApproval, notifyEntry } from '../runs/due-approvals.ts'
import { goOn } from '../runs/rest.ts'
import { checkDecision, type Picked, pickApproval, type StoredDecision } from './check-decision.ts'

type DecisionWorld = Pick<World, 'runs' | 'objects' | 'clock' | 'outbox' | 'settings'>

/** What became of it: `pending` while further votes are needed. */
type Decided = HeadApproval & { readonly id: string }

/** Other votes, a reminder or an escalation may come in between; there are not many. */
const ROUNDS = 30

/**
 * One person's decision on one approval: the first rejection or the last vote that was needed wins by the append's
 * condition; later ones get Conflict already_decided with who, when and how. Bound to what was shown by the digest
 * (docs/approvals.md, "What a decision binds"). A decision that is refused changes nothing, and stands in the log as
 * `approval:refused`.
 */
export async function decideApproval(
  given: DecisionWorld,
  run: RunKey,
  principal: Principal,
  decision: Decision,
  declared?: Declared,
): Promise<Decided> {
  const { world } = openCountedStorage(given, run)
  for (let round = 0; round < ROUNDS; round += 1) {
    const picked = await openQuestion(world, run, decision)
    const { id, approval } = picked
    const stored = await checkedDecision(world, run, { ...picked, principal, declared, decision })
    if (stored === undefined) continue
    const append = await decisionAppend(world, run, { ...picked, principal, declared, decision, stored })
    // What was read meanwhile took its time: the moment of the event is what counts.
    if (hasExpired(approval, runClock(picked.head, Date.parse(append.at)))) await expire(world, run, picked)
    const done = await world.runs.append(append)
    if (done.ok) return tellDecided(world, run, id, append)
    // Somebody else was faster, or the run ended: what is there now decides.
    if (done.because === 'terminal') throw await lostRace(world, run, id)
  }
  const message = 'Cannot decide now: others decide on it at this very moment. Try again.'
  throw new Fault('Unavailable', 'decided_at_once', message)
}

/** The question that is meant, where it is still one. */
async function openQuestion(world: DecisionWorld, run: RunKey, decision: Decision): Promise<Picked> {
  const picked = await pickApproval(world, run, decision)
  if (picked.approval.status !== 'pending') throw alreadyDecided(picked.id, picked.approval)
  if (hasExpired(picked.approval, runClock(picked.head, world.clock.now()))) await expire(world, run, picked)
  return picked
}

/**
 * What a decision brings, or the Fault that refuses it. Who may not decide, and a word on something else than is asked,
 * stand in the log first. Undefined: the question is another one meanwhile.
 */
async function checkedDecision(
  world: DecisionWorld,
  run: RunKey,
  deciding: Refusable,
): Promise<StoredDecision | undefined> {
  try {
    return await checkDecision(world, run, deciding.principal, deciding.decision, deciding)
  } catch (error) {
    if (!(error instanceof Fault) || !isRecorded(error.code)) throw error
    const append = refusedAppend(world, run, deciding, { code: error.code, reason: error.message })
    if (append === undefined) throw error
    const done = await world.runs.append(append)
    if (done.ok || done.because === 'terminal') throw error
    return undefined
  }
}

function isRecorded(code: string): code is (typeof REFUSED_CODES)[number] {
  return REFUSED_CODES.some((known) => known === code)
}

function hasExpired({ expires_at }: HeadApproval, at: number): boolean {
  return Date.parse(expires_at) <= at
}

async function expire(world: DecisionWorld, run: RunKey, { item, approval }: Picked): Promise<never> {
  await expireApproval(world, run, item)
  const message = `Cannot decide approval "${item.id}": it expired at ${approval.expires_at} (on_timeout: ${item.on_timeout}).`
  throw new Fault('Conflict', 'approval_expired', message)
}

async function tellDecided(
  world: DecisionWorld,
  run: RunKey,
  id: string,
  { approval, outbox = [] }: Append & { readonly approval: { readonly set: HeadApproval } },
): Promise<Decided> {
  if (outbox.length > 0) await world.outbox.nudge(run)
  return { id, ...approval.set }
}

function alreadyDecided(id: string, approval: HeadApproval): Fault {
  const message = `Cannot decide approval "${id}": it is already ${earlierDecisionWords(approval)}.`
  const { status, decided_by, decided_at, via } = approval
  return new Fault('Conflict', 'already_decided', message, { facts: { status, decided_by, decided_at, via } })
}

async function lostRace(world: DecisionWorld, run: RunKey, id: string): Promise<Fault> {
  const head = await world.runs.head(run, [])
  const approval = head?.approvals[id]
  if (approval !== undefined && approval.status !== 'pending') return alreadyDecided(id, approval)
  return new Fault('Conflict', 'run_ended', `Cannot decide approval "${id}": the run is ${head?.state ?? 'gone'}.`)
}

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
async function decisionAppend(
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
  const place = ordinal({ epoch: approvalEpoch(id), attempt: questionNumber(id) ?? 0, phase })
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
    ...(isOpen ? {} : await goOn(world, run, head, now)),
  }
}

/** A decision before it is known to be one. */
type Refusable = Omit<Deciding, 'stored'>

/** Refusals a run records; whoever goes on after them is refused all the same. */
const RECORDED_REFUSALS = 100

/**
 * The append of a decision that does not count, which leaves the approval exactly as it was read; undefined once enough of
 * them are recorded. The lane's ordinal is their number.
 */
function refusedAppend(
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
    reason: shortRedacted(reason, 300),
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
  const vote = toVote({ by, person: otherName(principal), via: principal.via ?? 'api', declared }, at)
  const { feedback_ref, edits_ref } = stored
  const isYes = decision.decision !== 'reject'
  const need = item.quorum ?? 1
  const votes = isYes && need > 1 ? { votes: [...(approval.votes ?? []), vote] } : {}
  if (isYes && need > 1 && votes.votes !== undefined && votes.votes.length < need) return { ...approval, ...votes }
  const { next_at: _, ...rest } = approval
  return {
    ...rest,
    ...votes,
    status: isYes ? 'approved' : 'rejected',
    ...decisionFields(vote),
    ...(feedback_ref === undefined ? {} : { feedback_ref }),
    ...(edits_ref === undefined ? {} : { edits_ref }),
    ...whatFollows(stored),
  }
}

/** What besides a yes or no follows from a decision. */
function whatFollows({ iterate, rest, stop }: StoredDecision) {
  return {
    ...(iterate === undefined ? {} : { iterate }),
    ...(rest === undefined ? {} : { rest }),
    ...(stop === undefined ? {} : { stop }),
  }
}

function decidedEvent(
  world: Pick<World, 'settings'>,
  { id, item, approval, principal, declared, decision, stored }: Deciding,
  set: HeadApproval,
  now: number,
): NewEvent {
  const { feedback_ref, edits_ref, edits_hash } = stored
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
    policy: ruleThatAllows(item, approval, principalName(principal), people, person) ?? 'nobody',
    policy_hash: policyHash(item, approval, people),
    ...(edits_ref === undefined ? {} : { edits_ref }),
    ...(edits_hash === undefined ? {} : { edits_hash }),
    ...whatFollows(stored),
  }
  return { type: 'approval:decided', block_id: item.block_id, data }
}
