import type { MachineSignal } from '../../shared/errors.ts'
import { NOTHING } from '../../shared/runs/amounts.ts'
import type { UsedByCalls } from '../../shared/runs/event.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { BlockCall, Resumed } from './block-call.ts'
import { freedByEnd } from './freed-by-end.ts'
import { eventHead, laneHead, ownerOf } from './own-lane.ts'
import { readOwnProjection } from './read-outputs.ts'
import { settled } from './record-events.ts'
import { retryBlock } from './retry-block.ts'
import { shareOf } from './told-use.ts'

const MAX_WAIT_SEC = 900

/** The attempt this invocation may claim, the lane it must find, and what the attempt before was refused for. */
export interface OpenAttempt {
  readonly attempt: number
  readonly lane: number | null
  /** Why the attempt before was refused; its feedback goes into this one's prompt. */
  readonly failure?: BlockProjection['failure']
  /** Of the attempts before it, as the projection counts them. */
  readonly untried?: number
}

/**
 * Decides from the lane alone which attempt comes next (the attempt number lives in the store only): none -> 1; the same
 * one where a person let it go on;
 * retrying and due -> n + 1; claimed with a live lease -> RetryBlock with the rest; claimed with a dead lease -> the
 * attempt is lost and recorded as such, then n + 1 (docs/adr/0009).
 */
export async function openAttempt(call: BlockCall): Promise<OpenAttempt | 'lost_for_good'> {
  if (call.lane === undefined) return { attempt: 1, lane: call.raw_lane }
  if (call.resumed !== undefined) return resumedAttempt(call, call.resumed)
  const { attempt, phase } = readOrdinal(call.lane)
  const projection = await readOwnProjection(call, call.lane)
  if (phase === PHASE.retrying) {
    await untilDue(call, projection?.due_at)
    return { attempt: attempt + 1, lane: call.lane, ...carriedOn(projection) }
  }
  if (leaseLives(call, projection)) {
    throw retryIn(call, Date.parse(projection?.lease_until ?? '') - call.world.clock.now())
  }
  return recordLost(call, attempt, projection)
}

/** The same attempt, which a person let go on. */
function resumedAttempt({ raw_lane }: BlockCall, { ask }: Resumed): OpenAttempt {
  return { attempt: ask.attempt, lane: raw_lane, ...carriedOn(ask.projection) }
}

/** The machine's Wait does delays of a second and more; shorter ones are slept here. */
async function untilDue(call: BlockCall, due: string | undefined): Promise<void> {
  const { clock } = call.world
  const rest = due === undefined ? 0 : Date.parse(due) - clock.now()
  if (rest >= 1_000) throw retryIn(call, rest)
  if (rest > 0) await clock.delay(rest)
}

function retryIn(call: BlockCall, ms: number): MachineSignal {
  return retryBlock(call, Math.max(0, Math.min(MAX_WAIT_SEC, Math.ceil(ms / 1_000))))
}

function leaseLives({ world }: BlockCall, projection: BlockProjection | undefined): boolean {
  if (projection?.lease_until === undefined || projection.holder === undefined) return false
  return Date.parse(projection.lease_until) > world.clock.now() && !world.machine.holderGone(projection.holder)
}

/**
 * A lost attempt is no try of the block's `retry` and is made up for, until as many of one pass were lost as the safety
 * policy's cap of tries: a block that takes its process along each time must not run for ever.
 */
async function recordLost(
  call: BlockCall,
  attempt: number,
  projection: BlockProjection | undefined,
): Promise<OpenAttempt | 'lost_for_good'> {
  const { world } = call
  const at = new Date(world.clock.now()).toISOString()
  const untried = (projection?.untried ?? 0) + 1
  const most = world.settings.safety.max_attempts
  const again = untried < most
  const state = again ? ('retrying' as const) : ('failed' as const)
  const lane = ordinal({ ...readOrdinal(call.lane ?? 0), phase: PHASE[state] })
  const code = 'ATTEMPT_LOST'
  const bound = again ? '' : ` (the ${most} attempts that may be lost were)`
  const reason = `attempt ${attempt} was lost: its function ended without a result${bound}`
  const head = { ...eventHead(call), attempt }
  const failure = { code, reason, feedback: projection?.failure?.feedback ?? [] }
  // Nobody knows what its calls used: what was reserved for them stands for it.
  const { reserved = NOTHING } = projection ?? {}
  const spent = lostUse(reserved)
  const done = await world.runs.append({
    ...laneHead(call),
    ordinal: lane,
    guard: { is: call.raw_lane },
    at,
    events: [
      again
        ? { ...head, type: 'block:retrying', data: { code, reason, due_at: at, ...spent } }
        : { ...head, type: 'block:failed', data: { code, reason, ...spent } },
    ],
    ...settled(reserved, reserved),
    ...shareOf(call),
    ...freedByEnd(call),
    projection: { ...ownerOf(call), ordinal: lane, state, attempt, untried, due_at: at, failure },
  })
  if (!done.ok) throw retryBlock(call)
  return again ? { attempt: attempt + 1, lane, failure, untried } : 'lost_for_good'
}

function lostUse({ tokens, usd_micros }: Amount): { readonly spent?: UsedByCalls } {
  return tokens === 0 && usd_micros === 0 ? {} : { spent: { tokens_in: tokens, tokens_out: 0, usd_micros } }
}

function carriedOn(projection: BlockProjection | undefined): Pick<OpenAttempt, 'failure' | 'untried'> {
  const { failure, untried } = projection ?? {}
  return { ...(failure === undefined ? {} : { failure }), ...(untried === undefined ? {} : { untried }) }
}
