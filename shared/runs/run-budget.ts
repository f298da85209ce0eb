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
