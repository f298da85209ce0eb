import { plus } from '../../shared/runs/amounts.ts'
import type { Append } from '../../shared/runs/append.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import type { BlockProjection } from '../../shared/runs/run-items.ts'
import type { BlockCall } from './block-call.ts'
import type { CallCaps } from './caps-of.ts'
import { eventHead, laneHead } from './own-lane.ts'
import { leftOfBlock } from './past-use.ts'
import { LEASE_MS } from './watch-attempt.ts'

/** An append that reserves; `claim`: B# as it is after it, for an attempt that is claimed. */
export interface Reservation {
  readonly append: Append
  readonly claim?: BlockProjection
}

/**
 * On the lane of a claimed attempt, so that nobody reserves for an attempt that was given to somebody else, and with
 * what is reserved in B#, for whoever finds the attempt lost. Calls before a claim, and those of a block whose items or
 * child have done its work, stand on a lane beside it: `g<block>`.
 */
export async function reservationAppend(call: BlockCall, caps: CallCaps, short: Amount): Promise<Reservation> {
  const { meter, world, epoch } = call
  const { claim } = meter
  const now = world.clock.now()
  const data = { tokens: short.tokens, usd_micros: short.usd_micros }
  const common = { at: new Date(now).toISOString(), reserve: short }
  if (claim === undefined) {
    const event: NewEvent = { type: 'budget:reserved', data }
    return { append: { ...common, ...(await besideLane(call)), events: [event] } }
  }
  const { attempt } = claim
  const { leg } = readOrdinal(claim.ordinal)
  const step = ordinal({ epoch, attempt, leg, phase: PHASE.reserved + Math.min(meter.steps, MOST_STEPS) })
  const reserved = plus(meter.reserved, short)
  const lease_until = new Date(now + LEASE_MS).toISOString()
  const projection = { ...claim, ordinal: step, lease_until, reserved }
  const event: NewEvent = { type: 'budget:reserved', ...eventHead(call), attempt, data }
  const lane = { ...laneHead(call), ordinal: step, guard: { below: step } }
  const append = { ...common, ...lane, events: [event], ...(await shareOf(call, caps)), projection }
  return { append, claim: projection }
}

/** Phases from PHASE.reserved to the record of the attempt's end: an attempt that needs more is refused its place. */
const MOST_STEPS = 19

async function besideLane({
  world,
  run,
  block,
  epoch,
  lane,
}: BlockCall): Promise<Pick<Append, 'run' | 'lane' | 'ordinal' | 'guard'>> {
  const beside = `g${block.index}`
  const now = (await world.runs.head(run, [beside]))?.lanes[beside] ?? 0
  const { attempt } = readOrdinal(lane ?? 0)
  const step = Math.max(now + 1, ordinal({ epoch, attempt, phase: 1 }))
  return { run, lane: beside, ordinal: step, guard: { below: step } }
}

/** Items of a block work side by side: what is left to them together is counted in HEAD. */
async function shareOf(call: BlockCall, { block: caps }: CallCaps): Promise<Pick<Append, 'share'>> {
  const { item, block } = call
  if (item === undefined || (caps.cap_tokens === undefined && caps.cap_usd_micros === undefined)) return {}
  return { share: { block: block.index, ...(await leftOfBlock(call, caps)) } }
}
