import type { RunBudget } from './run-budget.ts'
import type { RunFold } from './run-fold.ts'

/** What calls cost on the wire, where money is in dollars. */
export interface ShownPrice {
  /** Of the tokens whose price is known; null = of none of them. */
  readonly usd: number | null
  /** Tokens whose price nobody knows; absent when there are none. */
  readonly unpriced_tokens?: number
}

/** As the events of a run tell it. */
export function shownPrice({ tokens, usd_micros, unpriced_tokens }: Priced): ShownPrice {
  // Who used nothing owes nothing.
  const micros = tokens === 0 ? (usd_micros ?? 0) : usd_micros
  return {
    usd: micros === undefined ? null : micros / 1_000_000,
    ...(unpriced_tokens === undefined ? {} : { unpriced_tokens }),
  }
}

type Priced = Pick<RunFold, 'tokens' | 'usd_micros' | 'unpriced_tokens'>

/** The same as HEAD knows it: nothing of what was spent before tokens without a price were counted. */
export function priceInLedger({ spent_tokens: tokens, spent_usd_micros, unpriced_tokens }: RunBudget): ShownPrice {
  if (unpriced_tokens === undefined) return shownPrice({ tokens })
  if (unpriced_tokens === 0) return shownPrice({ tokens, usd_micros: spent_usd_micros })
  const isKnown = unpriced_tokens < tokens || spent_usd_micros > 0
  return shownPrice({ tokens, unpriced_tokens, ...(isKnown ? { usd_micros: spent_usd_micros } : {}) })
}
