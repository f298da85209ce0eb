import { NOTHING, plus } from './amounts.ts'
import type { NewEvent, UsedByCalls } from './event.ts'
import type { Amount, Spent } from './run-budget.ts'
import { amountSpent } from './spent-by-calls.ts'

/** What an event says that calls of providers used; undefined = it tells of none. The fold and the ledger both count this. */
export function costOf({ type, data }: NewEvent): UsedByCalls | undefined {
  switch (type) {
    case 'block:output': {
      const { tokens_in, tokens_out } = data
      return { tokens_in, tokens_out, ...priceIn(data) }
    }
    case 'block:gate':
    case 'block:retrying':
    case 'block:asked':
    case 'block:completed':
    case 'block:failed':
    case 'block:cancelled':
    case 'approval:requested':
      return data.spent
    case 'research:classified':
    case 'research:routed':
    case 'research:executed':
    case 'research:assessed':
    case 'research:synthesized': {
      return { tokens_in: data.tokens, tokens_out: 0, ...priceIn(data) }
    }
    default:
      return undefined
  }
}

type Price = Pick<UsedByCalls, 'usd_micros' | 'unpriced_tokens'>

function priceIn({ usd_micros, unpriced_tokens }: Price): Price {
  return {
    ...(usd_micros === undefined ? {} : { usd_micros }),
    ...(unpriced_tokens === undefined ? {} : { unpriced_tokens }),
  }
}

/** The same of many, as the ledger counts: an unknown price as nothing. */
export function amountOf(events: readonly NewEvent[]): Spent {
  return events.reduce((sum, event) => plus(sum, amountSpent(costOf(event))), NOTHING)
}

/** What is reserved, and held against caps. */
export function amountUsed(used: UsedByCalls | undefined): Amount {
  const { tokens, usd_micros } = amountSpent(used)
  return { tokens, usd_micros }
}
