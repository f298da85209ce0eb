import type { Amount } from './run-budget.ts'

export const NOTHING: Amount = { tokens: 0, usd_micros: 0 }

export function plus(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens + b.tokens, usd_micros: a.usd_micros + b.usd_micros }
}

/** Never below nothing. */
export function less(a: Amount, b: Amount): Amount {
  return { tokens: Math.max(0, a.tokens - b.tokens), usd_micros: Math.max(0, a.usd_micros - b.usd_micros) }
}
