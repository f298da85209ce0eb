import type { Decision } from '../../shared/api/control-routes.ts'
import { Fault } from '../../shared/errors.ts'
import type { Declared, Principal } from '../../shared/principal.ts'
import type { Append } from '../../shared/runs/append.ts'
import { decidedWords } from '../../shared/runs/approval-rules.ts'
import { REFUSED_CODES } from '../../shared/runs/event.ts'
import type { HeadApproval } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { openStorage } from '../storage.ts'
import { checkDecision, type StoredDecision } from './check-decision.ts'
import { decisionAppend, type Refusable, refusedAppend } from './decision-append.ts'
import { expireApproval } from './expire-approval.ts'
import { type Picked, pickApproval } from './pick-approval.ts'

export type DecisionWorld = Pick<World, 'runs' | 'objects' | 'clock' | 'outbox' | 'settings'>

/** What became of it: `pending` while further votes are needed. */
export type Decided = HeadApproval & { readonly id: string }

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
  const { world } = openStorage(given, run)
  for (let round = 0; round < ROUNDS; round += 1) {
    const picked = await openQuestion(world, run, decision)
    const { id, approval } = picked
    const stored = await checked(world, run, { ...picked, principal, declared, decision })
    if (stored === undefined) continue
    const append = await decisionAppend(world, run, { ...picked, principal, declared, decision, stored })
    // What was read meanwhile took its time: the moment of the event is what counts.
    if (hasExpired(approval, Date.parse(append.at))) await expire(world, run, picked)
    const done = await world.runs.append(append)
    if (done.ok) return told(world, run, id, append)
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
  if (hasExpired(picked.approval, world.clock.now())) await expire(world, run, picked)
  return picked
}

/**
 * What a decision brings, or the Fault that refuses it. Who may not decide, and a word on something else than is asked,
 * stand in the log first. Undefined: the question is another one meanwhile.
 */
async function checked(world: DecisionWorld, run: RunKey, deciding: Refusable): Promise<StoredDecision | undefined> {
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

async function told(
  world: DecisionWorld,
  run: RunKey,
  id: string,
  { approval, outbox = [] }: Append & { readonly approval: { readonly set: HeadApproval } },
): Promise<Decided> {
  if (outbox.length > 0) await world.outbox.nudge(run)
  return { id, ...approval.set }
}

function alreadyDecided(id: string, approval: HeadApproval): Fault {
  const message = `Cannot decide approval "${id}": it is already ${decidedWords(approval)}.`
  const { status, decided_by, decided_at, via } = approval
  return new Fault('Conflict', 'already_decided', message, { facts: { status, decided_by, decided_at, via } })
}

async function lostRace(world: DecisionWorld, run: RunKey, id: string): Promise<Fault> {
  const head = await world.runs.head(run, [])
  const approval = head?.approvals[id]
  if (approval !== undefined && approval.status !== 'pending') return alreadyDecided(id, approval)
  return new Fault('Conflict', 'run_ended', `Cannot decide approval "${id}": the run is ${head?.state ?? 'gone'}.`)
}
