import { type Amount, NOTHING, plus, type RunBudget, type Spent } from './budget.ts'
import type { NewEvent, UsedByCalls } from './event.ts'
import { eventRow } from './event-types.ts'
import type { RunFold } from './run-fold.ts'

/** What an event says that calls of providers used; undefined = it tells of none. The fold and the ledger both count this. */
export function usedByEvent(event: NewEvent): UsedByCalls | undefined {
  return eventRow(event)?.used?.(event.data)
}

/** The same of many, as the ledger counts: an unknown price as nothing. */
export function spentByEvents(events: readonly NewEvent[]): Spent {
  return events.reduce((sum, event) => plus(sum, spentOfUsage(usedByEvent(event))), NOTHING)
}

/** What is reserved, and held against caps. */
export function amountOfUsage(used: UsedByCalls | undefined): Amount {
  const { tokens, usd_micros } = spentOfUsage(used)
  return { tokens, usd_micros }
}

/** An unknown price counts as nothing. */
export function spentOfUsage(used: UsedByCalls | undefined): Spent {
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

/** What calls cost on the wire, where money is in dollars. */
interface ShownPrice {
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
