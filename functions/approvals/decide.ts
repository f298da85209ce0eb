import type { Decision } from '../../shared/api/control-routes.ts'
import { Fault } from '../../shared/errors.ts'
import type { Declared, Principal } from '../../shared/principal.ts'
import type { Append } from '../../shared/runs/append.ts'
import { decidedWords } from '../../shared/runs/approval-rules.ts'
import type { HeadApproval } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { checkDecision } from './check-decision.ts'
import { decisionAppend } from './decision-append.ts'
import { expireApproval } from './expire-approval.ts'
import { type Picked, pickApproval } from './pick-approval.ts'

export type DecisionWorld = Pick<World, 'runs' | 'objects' | 'clock' | 'outbox' | 'settings'>

/** What became of it: `pending` while further votes are needed. */
export type Decided = HeadApproval & { readonly id: string }

/** Other votes, a reminder or an escalation may come in between; there are not many. */
const ROUNDS = 30

/**
 * One person's decision on one approval: the first rejection or the last vote that was needed wins by the append's
 * condition; later ones get Conflict already_decided with who, when and how. Bound to what was shown by the digest (spec
 * approvals). Nothing is changed by a decision that is refused.
 */
export async function decideApproval(
  world: DecisionWorld,
  run: RunKey,
  principal: Principal,
  decision: Decision,
  declared?: Declared,
): Promise<Decided> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const picked = await pickApproval(world, run, decision)
    const { id, approval } = picked
    if (approval.status !== 'pending') throw alreadyDecided(id, approval)
    if (hasExpired(approval, world.clock.now())) await expire(world, run, picked)
    const stored = await checkDecision(world, run, principal, decision, picked)
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
