import { Fault } from '../../shared/errors.ts'
import type { Price } from '../../shared/prices.ts'
import type { DispatchAnswer, DispatchRequest } from '../../shared/provider.ts'
import { costMicros } from '../../shared/runs/estimate-call.ts'
import { wholeTokens } from './whole-amounts.ts'

/** More than this no call costs. */
const MOST_USD = 1_000_000

/**
 * An answer as it is counted. Counts are as a server sent them: what is no amount is none, and no price is an unknown
 * one. Under a cap no answer is free because its server did not count: what the table makes of the tokens stands for it.
 */
export function chargedAnswer(answer: DispatchAnswer, { capped, price }: Charging): DispatchAnswer {
  const { usd, ...said } = answer
  const tokens = { tokens_in: wholeTokens(said.tokens_in), tokens_out: wholeTokens(said.tokens_out) }
  const isPriced = usd !== undefined && usd >= 0
  const counted = { ...said, ...tokens, ...(isPriced ? { usd: Math.min(usd, MOST_USD) } : {}) }
  const micros = capped && !isPriced ? costMicros(counted, price) : undefined
  return micros === undefined ? counted : { ...counted, usd: micros / 1_000_000 }
}

/** A call that was given up in the middle, or whose answer was no use: nobody knows what it used. */
export function mayHaveUsed(error: unknown, { signal }: Pick<DispatchRequest, 'signal'>): boolean {
  if (signal.aborted) return true
  return error instanceof Fault && (error.code === 'provider_timeout' || error.code === 'provider_invalid')
}

interface Charging {
  /** A cap holds for the call. */
  readonly capped: boolean
  readonly price: Price | undefined
}
