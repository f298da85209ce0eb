import { Fault } from '../../shared/errors.ts'
import { type Estimate, estimateCall } from '../../shared/plan/call-estimate.ts'
import { callsModel, modelPriceAt } from '../../shared/providers/model-prices.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import { type Amount, minus, NOTHING, plus } from '../../shared/runs/budget.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import type { Append } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import { amountOfUsage } from '../../shared/runs/usage-cost.ts'
import type { CallOrigin } from '../../shared/telemetry/telemetry-port.ts'
import { chargedAnswer, mayHaveUsed, toMicros, tracedProvider } from '../provider-call.ts'
import { isSpendingRefusal, spendingProvider } from '../provider-spending.ts'
import { LEASE_MS } from '../record/projections.ts'
import { appendBase, type BlockCall, eventBase } from './block-call.ts'
import {
  blockCapRefusal,
  type CallCaps,
  callCaps,
  remainingBlockCaps,
  runCapRefusal,
  unknownPriceRefusal,
} from './budget.ts'
import { countGivenUp, countUse, noteRefusal } from './meter.ts'

/**
 * A configured provider whose calls are counted for this attempt and, where a cap holds, reserved before they are made, but
 * for one that calls no model: it uses up nothing.
 * The only way of a block and its gates to providers.
 */
export function meteredProvider(call: BlockCall, name: string): Provider | undefined {
  const spender = { world: call.world, run: call.run, dag: call.dag.name, labels: call.meta.labels ?? {} }
  const traced = tracedProvider(call.world, name, call.world.providers.get(name), () => callOrigin(call))
  const provider = spendingProvider(spender, name, traced)
  if (provider === undefined) return undefined
  return { dispatch: (request) => dispatchMetered(call, { name, provider }, request) }
}

async function dispatchMetered(
  call: BlockCall,
  { name, provider }: { readonly name: string; readonly provider: Provider },
  request: DispatchRequest,
): Promise<DispatchAnswer> {
  const { meter, world } = call
  const { settings } = world
  if (!callsModel(settings.providers, name)) return await provider.dispatch(request)
  const price = modelPriceAt(settings, name, request.model)
  const estimate = estimateCall(request, price)
  const capped = await reserveCall(call, name, estimate)
  const flew = capped ? amountOfUsage(estimate) : NOTHING
  try {
    const charged = chargedAnswer(await provider.dispatch(request), { capped, price })
    countUse(meter, flew, usedBy(charged))
    return charged
  } catch (error) {
    // A judge that was not asked is no verdict: as with a budget, the attempt fails.
    if (error instanceof Fault && isSpendingRefusal(error)) {
      noteRefusal(meter, { refusal: error, exceeded: undefined, wanted: undefined })
    }
    countGivenUp(meter, flew, capped && mayHaveUsed(error, request) ? estimate : undefined)
    throw error
  }
}

function usedBy({ tokens_in, tokens_out, usd }: DispatchAnswer) {
  return { tokens_in, tokens_out, ...(usd === undefined ? {} : { usd_micros: toMicros(usd) }) }
}

/** Where a call of a provider belongs right now: to the attempt that is claimed, else, for pre-gates, to the block alone. */
function callOrigin(call: BlockCall): CallOrigin {
  const { run, block, item, epoch } = call
  const attempt = claimedAttempt(call)
  const of = { block_id: block.id, ...(item === undefined ? {} : { item }), epoch }
  return { run, block_id: block.id, ...(attempt === undefined ? {} : { attempt: { ...of, attempt } }) }
}

/** By this invocation, or before it as HEAD says: a child, items or a person were waited for since. */
function claimedAttempt({ meter, lane }: BlockCall): number | undefined {
  if (meter.claim !== undefined) return meter.claim.attempt
  if (lane === undefined) return undefined
  const { attempt, phase } = readOrdinal(lane)
  return phase === PHASE.retrying || attempt === 0 ? undefined : attempt
}

/** Reservations beside the block's lane that others may be faster with. */
const MAX_TRIES = 20

/**
 * Commits the estimate of a call before it is made, where a cap holds; false = there is none. What is reserved already
 * and was not used is taken first, so that an attempt reserves once as a rule. A call that does not fit is Fault
 * LimitExceeded budget_exceeded, InvalidInput budget_price_unknown where a cap in dollars meets an unknown price.
 */
async function reserveCall(call: BlockCall, provider: string, estimate: Estimate): Promise<boolean> {
  const caps = callCaps(call)
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
  if (caps.in_usd && estimate.usd_micros === undefined) throw noted(call, unknownPriceRefusal(call, provider))
  const wanted = amountOfUsage(estimate)
  await requireBlockCap(call, caps, provider, wanted)
  const short = minus(plus(plus(meter.used, meter.flying), wanted), meter.reserved)
  if (short.tokens > 0 || short.usd_micros > 0) await reserveShort(call, { caps, provider, wanted, short })
  meter.flying = plus(meter.flying, wanted)
}

/** Of a block that works alone: nobody else can use up what is left of it meanwhile. Items share theirs in HEAD. */
async function requireBlockCap(call: BlockCall, { block }: CallCaps, provider: string, wanted: Amount): Promise<void> {
  if (call.item !== undefined || (block.cap_tokens === undefined && block.cap_usd_micros === undefined)) return
  const { meter } = call
  const left = await remainingBlockCaps(call, block)
  const mine = plus(meter.used, meter.told)
  const all = plus(plus(mine, meter.flying), wanted)
  const { cap_tokens = Number.POSITIVE_INFINITY, cap_usd_micros = Number.POSITIVE_INFINITY } = left
  if (all.tokens <= cap_tokens && all.usd_micros <= cap_usd_micros) return
  const wish = { what: `ask provider "${provider}"`, wanted, mine, flying: meter.flying }
  throw noted(call, await blockCapRefusal(call, wish))
}

interface Short extends Omit<Wanted, 'estimate'> {
  readonly wanted: Amount
  readonly short: Amount
}

async function reserveShort(call: BlockCall, { caps, provider, wanted, short }: Short): Promise<void> {
  const { meter } = call
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const reservation = await reservationAppend(call, caps, short)
    const done = await call.world.runs.append(reservation.append)
    if (done.ok) return countReserved(call, reservation, short)
    if (done.because === 'budget' || done.because === 'share') {
      const refusal = await reservationRefusal(call, done.because, {
        what: `ask provider "${provider}"`,
        wanted,
        short,
      })
      if (refusal !== undefined) throw noted(call, refusal)
      continue
    }
    if (done.because !== 'already' || meter.claim !== undefined) break
  }
  throw superseded(call)
}

/** Which cap was in the way; undefined: it was the run's, and others have given back enough of it since. */
async function reservationRefusal(
  call: BlockCall,
  because: 'budget' | 'share',
  wish: Parameters<typeof runCapRefusal>[1],
): Promise<ReturnType<typeof unknownPriceRefusal> | undefined> {
  if (because === 'budget') return runCapRefusal(call, wish)
  const { used, told, flying } = call.meter
  return blockCapRefusal(call, { ...wish, mine: plus(used, told), flying })
}

function countReserved({ meter }: BlockCall, { claim }: Reservation, short: Amount): void {
  meter.reserved = plus(meter.reserved, short)
  if (claim === undefined) return
  meter.claim = claim
  meter.steps += 1
}

function noted({ meter }: BlockCall, { fault, exceeded, wanted }: ReturnType<typeof unknownPriceRefusal>): Fault {
  noteRefusal(meter, { refusal: fault, exceeded, wanted })
  return fault
}

/** The attempt was given to somebody else, or its run has ended: nothing of it is recorded any more. */
function superseded({ run }: BlockCall): Fault {
  return new Fault('Rejected', 'superseded', `Run "${run.run_id}" was stopped or this attempt superseded.`)
}

/** An append that reserves; `claim`: B# as it is after it, for an attempt that is claimed. */
interface Reservation {
  readonly append: Append
  readonly claim?: BlockProjection
}

/**
 * On the lane of a claimed attempt, so that nobody reserves for an attempt that was given to somebody else, and with
 * what is reserved in B#, for whoever finds the attempt lost. Calls before a claim, and those of a block whose items or
 * child have done its work, stand on a lane beside it: `g<block>`.
 */
async function reservationAppend(call: BlockCall, caps: CallCaps, short: Amount): Promise<Reservation> {
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
  const event: NewEvent = { type: 'budget:reserved', ...eventBase(call), attempt, data }
  const lane = { ...appendBase(call), ordinal: step, guard: { below: step } }
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
  return { share: { block: block.index, ...(await remainingBlockCaps(call, caps)) } }
}
