import type { RunBudget } from '../../../shared/runs/run-budget.ts'

export const LEDGER_COLUMNS =
  'cap_tokens, cap_usd_micros, committed_tokens, committed_usd_micros, spent_tokens, spent_usd_micros, unpriced_tokens'

type Absent = 'cap_tokens' | 'cap_usd_micros' | 'unpriced_tokens'
export type LedgerRow = Omit<RunBudget, Absent> & Readonly<Record<Absent, number | null>>

export function ledgerOf(row: LedgerRow): RunBudget {
  const { cap_tokens, cap_usd_micros, unpriced_tokens } = row
  return {
    ...(cap_tokens === null ? {} : { cap_tokens }),
    ...(cap_usd_micros === null ? {} : { cap_usd_micros }),
    committed_tokens: row.committed_tokens,
    committed_usd_micros: row.committed_usd_micros,
    spent_tokens: row.spent_tokens,
    spent_usd_micros: row.spent_usd_micros,
    ...(unpriced_tokens === null ? {} : { unpriced_tokens }),
  }
}
