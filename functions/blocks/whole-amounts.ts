/** More than this one call never used: what a provider that counts nonsense can do to a ledger. */
const MOST_TOKENS = 1_000_000_000
const MOST_MICROS = 1_000_000_000_000

/** 0 for what is no amount: an adapter's NaN must not become null in an event. */
export function wholeTokens(tokens: number): number {
  return tokens > 0 ? Math.min(Math.round(tokens), MOST_TOKENS) : 0
}

/** Dollars as whole millionths. */
export function wholeMicros(usd: number): number {
  return usd > 0 ? Math.min(Math.round(usd * 1_000_000), MOST_MICROS) : 0
}
