import { Fault, type MachineSignal } from '../../shared/errors.ts'
import { less, plus } from '../../shared/runs/amounts.ts'
import type { Estimate } from '../../shared/runs/estimate-call.ts'
import { amountUsed } from '../../shared/runs/event-cost.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import type { BlockCall } from './block-call.ts'
import { blockExceeded, priceUnknown, runExceeded } from './budget-refusal.ts'
import { type CallCaps, capsOf } from './caps-of.ts'
import { leftOfBlock } from './past-use.ts'
import { type Reservation, reservationAppend } from './reservation-append.ts'

/** Reservations beside the block's lane that others may be faster with. */
const MAX_TRIES = 20

/**
 * Commits the estimate of a call before it is made, where a cap holds; false = there is none. What is reserved already
 * and was not used is taken first, so that an attempt reserves once as a rule. A call that does not fit is Fault
 * LimitExceeded budget_exceeded, InvalidInput budget_price_unknown where a cap in dollars meets an unknown price.
 */
export async function reserveCall(call: BlockCall, provider: string, estimate: Estimate): Promise<boolean> {
  const caps = capsOf(call)
  if (caps === undefined) return false
  const { meter } = call
  const mine = meter.turn.catch(() => undefined).then(() => reserveNow(call, { caps, provider, estimate }))
  meter.turn = mine
  await mine
  return true
}

interface Wanted {
  readonly caps: CallCaps
  readonly provider: string
  readonly estimate: Estimate
}

async function reserveNow(call: BlockCall, { caps, provider, estimate }: Wanted): Promise<void> {
  const { meter } = call
  if (meter.refusal !== undefined) throw meter.refusal
  if (caps.in_usd && estimate.usd_micros === undefined) throw refuse(call, priceUnknown(call, provider))
  const wanted = amountUsed(estimate)
  await requireBlockCap(call, caps, provider, wanted)
  const short = less(plus(plus(meter.used, meter.flying), wanted), meter.reserved)
  if (short.tokens > 0 || short.usd_micros > 0) await reserve(call, { caps, provider, wanted, short })
  meter.flying = plus(meter.flying, wanted)
}

/** Of a block that works alone: nobody else can use up what is left of it meanwhile. Items share theirs in HEAD. */
async function requireBlockCap(call: BlockCall, { block }: CallCaps, provider: string, wanted: Amount): Promise<void> {
  if (call.item !== undefined || (block.cap_tokens === undefined && block.cap_usd_micros === undefined)) return
  const { meter } = call
  const left = await leftOfBlock(call, block)
  const mine = plus(meter.used, meter.told)
  const all = plus(plus(mine, meter.flying), wanted)
  const { cap_tokens = Number.POSITIVE_INFINITY, cap_usd_micros = Number.POSITIVE_INFINITY } = left
  if (all.tokens <= cap_tokens && all.usd_micros <= cap_usd_micros) return
  const wish = { what: `ask provider "${provider}"`, wanted, mine, flying: meter.flying }
  throw refuse(call, await blockExceeded(call, wish))
}

interface Short extends Omit<Wanted, 'estimate'> {
  readonly wanted: Amount
  readonly short: Amount
}

async function reserve(call: BlockCall, { caps, provider, wanted, short }: Short): Promise<void> {
  const { meter } = call
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const reservation = await reservationAppend(call, caps, short)
    const done = await call.world.runs.append(reservation.append)
    if (done.ok) return taken(call, reservation, short)
    if (done.because === 'budget' || done.because === 'share') {
      const refusal = await refusalOf(call, done.because, { what: `ask provider "${provider}"`, wanted, short })
      if (refusal !== undefined) throw refuse(call, refusal)
      continue
    }
    if (done.because !== 'already' || meter.claim !== undefined) break
  }
  throw superseded(call)
}

/** Which cap was in the way; undefined: it was the run's, and others have given back enough of it since. */
async function refusalOf(
  call: BlockCall,
  because: 'budget' | 'share',
  wish: Parameters<typeof runExceeded>[1],
): Promise<ReturnType<typeof priceUnknown> | undefined> {
  if (because === 'budget') return runExceeded(call, wish)
  const { used, told, flying } = call.meter
  return blockExceeded(call, { ...wish, mine: plus(used, told), flying })
}

function taken({ meter }: BlockCall, { claim }: Reservation, short: Amount): void {
  meter.reserved = plus(meter.reserved, short)
  if (claim === undefined) return
  meter.claim = claim
  meter.steps += 1
}

function refuse(
  { meter }: BlockCall,
  { fault, exceeded, wanted }: ReturnType<typeof priceUnknown>,
): Fault | MachineSignal {
  meter.refusal = fault
  meter.exceeded = exceeded
  meter.wanted = wanted
  return fault
}

/** The attempt was given to somebody else, or its run has ended: nothing of it is recorded any more. */
function superseded({ run }: BlockCall): Fault {
  return new Fault('Rejected', 'superseded', `Run "${run.run_id}" was stopped or this attempt superseded.`)
}
