import type { Amount, Spent } from './run-budget.ts'

export const NOTHING: Amount = { tokens: 0, usd_micros: 0 }

export function plus(a: Spent, b: Spent): Spent {
  const unpriced_tokens = (a.unpriced_tokens ?? 0) + (b.unpriced_tokens ?? 0)
  return {
    tokens: a.tokens + b.tokens,
    usd_micros: a.usd_micros + b.usd_micros,
    ...(unpriced_tokens === 0 ? {} : { unpriced_tokens }),
  }
}

/** Never below nothing. What is reserved is never unpriced. */
export function less(a: Amount, b: Amount): Amount {
  return { tokens: Math.max(0, a.tokens - b.tokens), usd_micros: Math.max(0, a.usd_micros - b.usd_micros) }
}
