import type { Decision } from '../../shared/api/control-routes.ts'
import { Fault } from '../../shared/errors.ts'
import { type Principal, principalName } from '../../shared/principal.ts'
import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import { decidedWords, refusalOf } from '../../shared/runs/approval-rules.ts'
import { OUTBOX_GRACE_MS } from '../../shared/runs/check-at.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import type { Head, HeadApproval } from '../../shared/runs/head.ts'
import { ordinal, PHASE } from '../../shared/runs/ordinal.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { Append, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../runs/read-pinned.ts'
import { deadlineAfterPause } from './deadline-after-pause.ts'
import { expireApproval } from './expire-approval.ts'
import { pickApproval } from './pick-approval.ts'

type DecisionWorld = Pick<World, 'runs' | 'objects' | 'clock' | 'outbox'>

/**
 * One person's decision on one approval: the first valid one wins by the append's condition; later ones get Conflict
 * already_decided with who, when and how. Bound to what was shown by the digest (spec approvals).
 */
export async function decideApproval(
  world: DecisionWorld,
  run: RunKey,
  principal: Principal,
  decision: Decision,
  via: string,
): Promise<HeadApproval & { readonly id: string }> {
  const { id, head, item, approval } = await pickApproval(world, run, decision)
  if (approval.status !== 'pending') throw alreadyDecided(id, approval)
  if (hasExpired(approval, world.clock.now())) await expire(world, run, item, approval)
  await requireAllowed(world, run, principal, item)
  requireDigest(item, decision)
  const set = await decided(world, run, principal, decision, via, approval)
  const append = await decisionAppend(world, run, { id, item, head, set, principal, via })
  // What was read meanwhile took its time: the moment of the event is what counts.
  if (hasExpired(approval, Date.parse(append.at))) await expire(world, run, item, approval)
  const done = await world.runs.append(append)
  if (!done.ok) throw await lostRace(world, run, id, done.because)
  await world.outbox.nudge(run)
  return { id, ...set }
}

function hasExpired({ expires_at }: HeadApproval, at: number): boolean {
  return Date.parse(expires_at) <= at
}

async function expire(world: DecisionWorld, run: RunKey, item: ApprovalItem, approval: HeadApproval): Promise<never> {
  await expireApproval(world, run, item, approval)
  const message = `Cannot decide approval "${item.id}": it expired at ${approval.expires_at} (on_timeout: ${item.on_timeout}).`
  throw new Fault('Conflict', 'approval_expired', message)
}

async function requireAllowed(world: DecisionWorld, run: RunKey, principal: Principal, item: ApprovalItem) {
  const { meta } = await readPinned(world, run)
  const refusal = refusalOf(item, principal, meta.starter)
  if (refusal === undefined) return
  throw new Fault('Rejected', refusal.code, `Cannot decide approval "${item.id}": ${refusal.message}`)
}

function requireDigest(item: ApprovalItem, { digest }: Decision): void {
  if (digest === undefined || digest === item.digest) return
  const shown = Object.entries(item.shown).map(([port, { sha256 }]) => `${port} sha256 ${sha256.slice(0, 12)}`)
  const message = `Cannot decide approval "${item.id}": what it shows has digest ${item.digest}, you sent ${digest}. It now shows ${shown.join(', ')}. Look at it again and send its digest.`
  throw new Fault('Conflict', 'digest_changed', message, { facts: { digest: item.digest } })
}

async function decided(
  world: DecisionWorld,
  run: RunKey,
  principal: Principal,
  { decision, feedback }: Decision,
  via: string,
  approval: HeadApproval,
): Promise<HeadApproval> {
  const stored = feedback === undefined ? undefined : await world.objects.put(run.tenant, Buffer.from(feedback))
  return {
    ...approval,
    status: decision === 'approve' ? 'approved' : 'rejected',
    decided_by: principalName(principal),
    decided_at: new Date(world.clock.now()).toISOString(),
    via,
    ...(stored === undefined ? {} : { feedback_ref: stored.ref }),
  }
}

interface Deciding {
  readonly id: string
  readonly item: ApprovalItem
  readonly head: Head
  readonly set: HeadApproval
  readonly principal: Principal
  readonly via: string
}

async function decisionAppend(
  world: DecisionWorld,
  run: RunKey,
  { id, item, head, set, principal, via }: Deciding,
): Promise<Append> {
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const decision = set.status === 'approved' ? 'approve' : 'reject'
  const data = {
    approval_id: id,
    decision,
    by: { kind: principal.kind, id: principal.id },
    via,
    digest: item.digest,
    ...(set.feedback_ref === undefined ? {} : { feedback_ref: set.feedback_ref }),
    have: 1,
    need: 1,
    waited_ms: Math.max(0, now - Date.parse(item.requested_at)),
    policy: item.approvers.length === 0 ? 'anyone_allowed' : 'approvers',
  } as const
  const event: NewEvent = { type: 'approval:decided', block_id: item.block_id, data }
  const end = ordinal({ epoch: approvalEpoch(id), attempt: 0, phase: PHASE.completed })
  return {
    run,
    lane: `a${item.block.toString(36)}`,
    ordinal: end,
    guard: { below: end },
    at,
    events: [event],
    approval: { id, was: 'pending', set },
    outbox: [{ id: `token-${id}`, at, kind: 'send_token', approval_id: id }],
    check_at: new Date(now + OUTBOX_GRACE_MS).toISOString(),
    ...(await deadlineAfterPause(world, run, head, now)),
  }
}

function alreadyDecided(id: string, approval: HeadApproval): Fault {
  const message = `Cannot decide approval "${id}": it is already ${decidedWords(approval)}.`
  const { status, decided_by, decided_at, via } = approval
  return new Fault('Conflict', 'already_decided', message, { facts: { status, decided_by, decided_at, via } })
}

async function lostRace(world: DecisionWorld, run: RunKey, id: string, because: string): Promise<Fault> {
  const approval = (await world.runs.head(run, []))?.approvals[id]
  if (approval !== undefined && approval.status !== 'pending') return alreadyDecided(id, approval)
  return new Fault('Conflict', 'run_ended', `Cannot decide approval "${id}": the run has ended (${because}).`)
}
