/** Tokens, and money in millionths of a US dollar: integers, never negative but where a change is meant. */
export interface Amount {
  readonly tokens: number
  readonly usd_micros: number
}

export interface Spent extends Amount {
  /** How many of the tokens nobody knows a price of; absent = of none. */
  readonly unpriced_tokens?: number
}

/**
 * The ledger of a run, in HEAD (docs/adr/0031): what is committed is what was spent and what calls in
 * flight have reserved. An absent cap is none.
 */
export interface RunBudget {
  readonly cap_tokens?: number
  readonly cap_usd_micros?: number
  readonly committed_tokens: number
  readonly committed_usd_micros: number
  readonly spent_tokens: number
  readonly spent_usd_micros: number
  /** Spent tokens without a known price; absent in runs that began before they were counted. */
  readonly unpriced_tokens?: number
}

/** Whether an estimate can be reserved: committed + estimate <= cap, of both. */
export function fitsBudget(budget: RunBudget, wanted: Amount): boolean {
  const { cap_tokens = Infinity, cap_usd_micros = Infinity } = budget
  return (
    budget.committed_tokens + wanted.tokens <= cap_tokens &&
    budget.committed_usd_micros + wanted.usd_micros <= cap_usd_micros
  )
}

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
export function minus(a: Amount, b: Amount): Amount {
  return { tokens: Math.max(0, a.tokens - b.tokens), usd_micros: Math.max(0, a.usd_micros - b.usd_micros) }
}

/** The ledger of a run on the wire, where money is in dollars. An absent cap is none. */
export interface ShownBudget {
  readonly cap_tokens?: number | undefined
  readonly cap_usd?: number | undefined
  readonly committed_tokens: number
  readonly committed_usd: number
  readonly spent_tokens: number
  readonly spent_usd: number
}

export function shownBudget(budget: RunBudget): ShownBudget {
  const { cap_tokens, cap_usd_micros } = budget
  return {
    ...(cap_tokens === undefined ? {} : { cap_tokens }),
    ...(cap_usd_micros === undefined ? {} : { cap_usd: cap_usd_micros / 1_000_000 }),
    committed_tokens: budget.committed_tokens,
    committed_usd: budget.committed_usd_micros / 1_000_000,
    spent_tokens: budget.spent_tokens,
    spent_usd: budget.spent_usd_micros / 1_000_000,
  }
}
