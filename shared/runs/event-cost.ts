import { NOTHING, plus } from './amounts.ts'
import type { NewEvent, UsedByCalls } from './event.ts'
import type { Amount } from './run-budget.ts'

/** What an event says that calls of providers used; undefined = it tells of none. The fold and the ledger both count this. */
export function costOf({ type, data }: NewEvent): UsedByCalls | undefined {
  switch (type) {
    case 'block:output': {
      const { tokens_in, tokens_out, usd_micros } = data
      return { tokens_in, tokens_out, ...(usd_micros === undefined ? {} : { usd_micros }) }
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
      const { tokens, usd_micros } = data
      return { tokens_in: tokens, tokens_out: 0, ...(usd_micros === undefined ? {} : { usd_micros }) }
    }
    default:
      return undefined
  }
}

/** The same of many, as the ledger counts: an unknown price as nothing. */
export function amountOf(events: readonly NewEvent[]): Amount {
  return events.reduce((sum, event) => plus(sum, amountUsed(costOf(event))), NOTHING)
}

export function amountUsed(used: UsedByCalls | undefined): Amount {
  if (used === undefined) return NOTHING
  return { tokens: used.tokens_in + used.tokens_out, usd_micros: used.usd_micros ?? 0 }
}
