import type { MachineSignal } from '../../shared/errors.ts'
import { type Amount, NOTHING } from '../../shared/runs/budget.ts'
import type { NewEvent, UsedByCalls } from '../../shared/runs/event.ts'
import { ordinal, PHASE, readOrdinal, workingLeg } from '../../shared/runs/lane.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import { chargeFor } from '../record/record-events.ts'
import { workOf } from './agents/attempt-work.ts'
import type { Failure } from './attempt-outcome.ts'
import { appendBase, type BlockCall, eventBase, freedByEnd, laneOwnerOf, type OpenQuestion } from './block-call.ts'
import { askPerson, retryBlock } from './block-report.ts'
import { itemsUsage } from './budget.ts'
import { questionFor } from './question.ts'

/*
 * A step with `effect: once` whose work began and of which nobody knows how far it came: no retry and no restart makes it
 * again. A person is asked, who can look what it had done; their yes is the one thing that does (docs/approvals.md, "Work
 * that was lost").
 */

/** Whether the attempt of this lane is such a step, and had begun its work. */
export function isEffectUnknown({ block, lane = 0 }: BlockCall): boolean {
  return isOnce(block) && readOrdinal(lane).phase >= PHASE.begun
}

export function isOnce(block: BlockCall['block']): boolean {
  return block.mode === 'deterministic' && (block.step?.effect ?? block.effect) === 'once'
}

/**
 * The failure of such an attempt. `untried`: attempts before it that used up no try; with as many as may be lost a yes could
 * let nothing begin, so nobody is asked.
 */
export function failureOfLostWork({ world }: BlockCall, attempt: number, untried: number, why: string): Failure {
  const most = world.settings.safety.max_attempts
  const mayAsk = untried + 1 < most
  const bound = mayAsk ? '' : ` (the ${most} attempts that may be lost were)`
  const reason = `attempt ${attempt} was lost in the middle of its work, which may be done once only: ${why}${bound}`
  const failure = { code: 'step_effect_unknown', reason, retry: false, feedback: [reason] }
  return mayAsk ? { ...failure, ask: 'lost_step' } : failure
}

/** Failures after which nobody knows whether the work was done. */
const UNKNOWN_EFFECT: ReadonlySet<string> = new Set(['mcp_answer_lost', 'block_timeout'])

/**
 * The failure of a call that may be done once only and whose answer nobody heard, or could be kept: a person is asked
 * before it is made again.
 */
export function askedIfUnheard(call: BlockCall, attempt: number, failure: Failure): Failure {
  if (call.acting === undefined || !isOnce(call.block)) return failure
  const wouldBeMadeAgain = call.meter.answered && failure.retry
  if (!UNKNOWN_EFFECT.has(failure.code) && !wouldBeMadeAgain) return failure
  return failureOfLostWork(call, attempt, call.meter.claim?.untried ?? 0, failure.reason)
}

/** Records that it was lost: a person is asked, or, where nobody can be, the block fails. What the machine does then. */
export async function endLostInWork(
  call: BlockCall,
  attempt: number,
  projection: BlockProjection | undefined,
): Promise<MachineSignal> {
  const { world } = call
  const { reserved = NOTHING, untried = 0 } = projection ?? {}
  const failure = failureOfLostWork(call, attempt, untried, 'its function ended without a result')
  const { leg } = readOrdinal(call.lane ?? 0)
  const ask = await questionFor(call, { failure, leg, inputs: undefined })
  const { code, reason, feedback } = failure
  const state = ask === undefined ? ('failed' as const) : ('asked' as const)
  const lane = ordinal({ ...readOrdinal(call.lane ?? 0), phase: PHASE[state] })
  const head = { ...eventBase(call), attempt }
  const spent = spentByLost(reserved)
  const event: NewEvent =
    ask === undefined
      ? { ...head, type: 'block:failed', data: { code, reason, ...spent } }
      : { ...head, type: 'block:asked', data: { ...ask, ...spent } }
  const ended: Pick<BlockProjection, 'state' | 'failure' | 'asked'> =
    ask === undefined
      ? { state: 'failed', failure: { code, reason, feedback } }
      : { state: 'paused_approval', asked: { approval_id: ask.approval_id, about: ask.about }, ...told(projection) }
  const done = await world.runs.append({
    ...appendBase(call),
    ordinal: lane,
    guard: { is: call.raw_lane },
    at: new Date(world.clock.now()).toISOString(),
    events: [event],
    ...chargeFor(reserved, reserved),
    ...itemsUsage(call),
    ...(ask === undefined ? freedByEnd(call) : { end: laneOwnerOf(call) }),
    ...workOf(call, { reason }),
    projection: { ...laneOwnerOf(call), ordinal: lane, attempt, ...claimedAs(projection), ...ended },
  })
  return ask === undefined || !done.ok ? retryBlock(call) : askPerson(call)
}

/** Nobody knows what the calls of a lost attempt used: what was reserved for them stands for it. */
export function spentByLost({ tokens, usd_micros }: Amount): { readonly spent?: UsedByCalls } {
  return tokens === 0 && usd_micros === 0 ? {} : { spent: { tokens_in: tokens, tokens_out: 0, usd_micros } }
}

function claimedAs({ untried, inputs_hash }: Partial<BlockProjection> = {}): Partial<BlockProjection> {
  return { ...(untried === undefined ? {} : { untried }), ...(inputs_hash === undefined ? {} : { inputs_hash }) }
}

/** What the try before it was refused for. */
function told({ failure }: Partial<BlockProjection> = {}): Pick<BlockProjection, 'failure'> {
  return failure === undefined ? {} : { failure }
}

interface GivenUp {
  readonly code: 'ATTEMPT_LOST' | 'inputs_edited'
  readonly reason: string
  readonly feedback?: readonly string[]
}

/** After a person's word the attempt they were asked about is given up, and is no try: the machine begins the next one. */
export async function giveUpAsked(call: BlockCall, ask: OpenQuestion, why: GivenUp): Promise<never> {
  const { world, lane = 0 } = call
  const { attempt, projection } = ask
  const { code, reason } = why
  const untried = (projection.untried ?? 0) + 1
  const at = new Date(world.clock.now()).toISOString()
  const place = ordinal({ ...readOrdinal(lane), leg: workingLeg(lane), phase: PHASE.retrying })
  await world.runs.append({
    ...appendBase(call),
    ordinal: place,
    guard: { is: call.raw_lane },
    at,
    events: [{ type: 'block:retrying', ...eventBase(call), attempt, data: { code, reason, due_at: at } }],
    ...freedByEnd(call),
    ...workOf(call, { reason }),
    projection: {
      ...laneOwnerOf(call),
      ordinal: place,
      attempt,
      untried,
      state: 'retrying',
      due_at: at,
      failure: why,
    },
  })
  throw retryBlock(call)
}
