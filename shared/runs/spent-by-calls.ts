import { NOTHING } from './amounts.ts'
import type { UsedByCalls } from './event.ts'
import type { Spent } from './run-budget.ts'

/** An unknown price counts as nothing. */
export function amountSpent(used: UsedByCalls | undefined): Spent {
  if (used === undefined) return NOTHING
  const unpriced_tokens = unpricedTokens(used)
  return {
    tokens: used.tokens_in + used.tokens_out,
    usd_micros: used.usd_micros ?? 0,
    ...(unpriced_tokens === 0 ? {} : { unpriced_tokens }),
  }
}

/** Tokens nobody knows a price of: where no price is told, all of them. */
export function unpricedTokens({ tokens_in, tokens_out, usd_micros, unpriced_tokens }: UsedByCalls): number {
  return unpriced_tokens ?? (usd_micros === undefined ? tokens_in + tokens_out : 0)
}
