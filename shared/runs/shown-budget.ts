import type { RunBudget } from './run-budget.ts'

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
