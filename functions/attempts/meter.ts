import type { Fault } from '../../shared/errors.ts'
import type { Estimate } from '../../shared/plan/call-estimate.ts'
import { type Amount, minus, NOTHING, plus } from '../../shared/runs/budget.ts'
import type { EventData, UsedByCalls } from '../../shared/runs/event.ts'
import type { Append, Appended } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import { amountOfUsage, unpricedTokens } from '../../shared/runs/usage-cost.ts'

/** What one invocation has claimed, and its provider calls reserved and used: the only thing of a BlockCall that changes. */
export interface CallMeter {
  /** Outstanding in HEAD: the append that records these calls settles it. */
  reserved: Amount
  /** By calls that came back, since the last settlement. */
  used: Amount
  /** Estimates of calls under way; only those of capped runs and blocks are known. */
  flying: Amount
  /** Used and settled before, by this invocation. */
  told: Amount
  /** Used, and in no event yet. */
  untold: UsedByCalls | undefined
  /** That part of it that may have been used by calls without an answer. */
  given_up: UsedByCalls | undefined
  /** B# of the attempt once it is claimed; reservations before that stand on a lane beside the block's. */
  claim: BlockProjection | undefined
  /** Its claim, where that is written with its end. */
  kept: KeptClaim | undefined
  /** The tool that an agent called has answered: what fails from here on is not its failure. */
  answered: boolean
  /** Reservations that stand on the attempt's own lane. */
  steps: number
  /** Why a call was not made: the attempt fails for good, whatever a gate made of it. */
  refusal: Fault | undefined
  exceeded: EventData<'budget:exceeded'> | undefined
  /** What the call that was not made may use. */
  wanted: Amount | undefined
  /** What the block used before this invocation, once somebody had to know. */
  past: Promise<Amount> | undefined
  /** One reservation at a time. */
  turn: Promise<unknown>
  /** The attempt is recorded: what comes back later counts nowhere. */
  closed: boolean
}

/** A claim that is kept back for its end, and what it waits for where the run has no slot for it. */
export interface KeptClaim {
  readonly append: Append
  /** Returns where the run may have a slot again; `ended`: never. */
  slot(): Promise<'waited' | 'ended'>
  /** Written before its end. */
  written?: Promise<Appended>
}

export function openMeter(): CallMeter {
  return {
    reserved: NOTHING,
    used: NOTHING,
    flying: NOTHING,
    told: NOTHING,
    untold: undefined,
    given_up: undefined,
    claim: undefined,
    kept: undefined,
    answered: false,
    steps: 0,
    refusal: undefined,
    exceeded: undefined,
    wanted: undefined,
    past: undefined,
    turn: Promise.resolve(),
    closed: false,
  }
}

/** Why a call was not made, and what it wanted. */
export type RefusedCall = Pick<CallMeter, 'refusal' | 'exceeded' | 'wanted'>

export function noteRefusal(meter: CallMeter, { refusal, exceeded, wanted }: RefusedCall): void {
  meter.refusal = refusal
  meter.exceeded = exceeded
  meter.wanted = wanted
}

/** Somebody else is asked instead. */
export function takeRefusal(meter: CallMeter): RefusedCall {
  const { refusal, exceeded, wanted } = meter
  noteRefusal(meter, { refusal: undefined, exceeded: undefined, wanted: undefined })
  return { refusal, exceeded, wanted }
}

/** A call was given up with its estimate, or undefined: nothing can have been used. */
export function countGivenUp(meter: CallMeter, flew: Amount, estimate: Estimate | undefined): void {
  countUse(meter, flew, estimate)
  if (estimate !== undefined && !meter.closed) meter.given_up = together(meter.given_up, estimate)
}

/** A call came back. */
export function countUse(meter: CallMeter, flew: Amount, use: UsedByCalls | Estimate | undefined): void {
  if (meter.closed) return
  meter.flying = minus(meter.flying, flew)
  if (use === undefined) return
  meter.used = plus(meter.used, amountOfUsage(use))
  meter.untold = together(meter.untold, use)
}

/** What an event told that is thrown away with it. */
export function putBackUse(meter: CallMeter, use: UsedByCalls | undefined): void {
  if (use !== undefined) meter.untold = together(meter.untold, use)
}

function together(a: UsedByCalls | undefined, b: UsedByCalls | Estimate): UsedByCalls {
  const known = [a?.usd_micros, b.usd_micros].filter((usd) => usd !== undefined)
  const sum = {
    tokens_in: (a?.tokens_in ?? 0) + b.tokens_in,
    tokens_out: (a?.tokens_out ?? 0) + b.tokens_out,
  }
  if (known.length === 0) return sum
  const unpriced_tokens = (a === undefined ? 0 : unpricedTokens(a)) + unpricedTokens(b)
  const usd_micros = known.reduce((total, usd) => total + usd, 0)
  return { ...sum, usd_micros, ...(unpriced_tokens === 0 ? {} : { unpriced_tokens }) }
}

/** What calls used since somebody asked, for the event that tells of it. */
export function takeUnreportedUse(meter: CallMeter): UsedByCalls | undefined {
  const { untold } = meter
  meter.untold = undefined
  meter.given_up = undefined
  return untold
}

/** The same where another event tells of the answers: of what calls before them may have used it does not. */
export function leaveGivenUp(meter: CallMeter): void {
  meter.untold = meter.given_up
  meter.given_up = undefined
}

/** What the append that records these calls frees. */
export function chargeMeter(meter: CallMeter): Amount {
  const { reserved } = meter
  meter.told = plus(meter.told, meter.used)
  meter.reserved = NOTHING
  meter.used = NOTHING
  return reserved
}

/** The same at the attempt's end: a call that is still under way counts with its estimate, nobody will know better. */
export function closeMeter(meter: CallMeter): Amount {
  const { tokens, usd_micros } = meter.flying
  if (tokens > 0 || usd_micros > 0) countUse(meter, meter.flying, { tokens_in: tokens, tokens_out: 0, usd_micros })
  meter.closed = true
  return chargeMeter(meter)
}
