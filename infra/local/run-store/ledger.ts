import type { DatabaseSync } from 'node:sqlite'
import type { Append } from '../../../shared/runs/append.ts'
import type { RunBudget, Spent } from '../../../shared/runs/run-budget.ts'
import { LEDGER_COLUMNS, type LedgerRow, ledgerOf } from './ledger-row.ts'
import { query } from './query.ts'

/** The ledger of a run that is there. */
export function ledgerReader(db: DatabaseSync): (run: number) => RunBudget {
  const read = query<LedgerRow>(db, `SELECT ${LEDGER_COLUMNS} FROM runs WHERE run = ?`)
  return (run) => {
    const row = read.one(run)
    return row === undefined ? NO_LEDGER : ledgerOf(row)
  }
}

const NO_LEDGER = { committed_tokens: 0, committed_usd_micros: 0, spent_tokens: 0, spent_usd_micros: 0 }

/** Reserves, settles and raises; the caller holds the transaction and has checked the caps. */
export function ledgerWriter(
  db: DatabaseSync,
): (run: number, append: Pick<Append, 'reserve' | 'settle' | 'raise'>) => void {
  const move = db.prepare(
    `UPDATE runs SET committed_tokens = committed_tokens + ?, committed_usd_micros = committed_usd_micros + ?,
      spent_tokens = spent_tokens + ?, spent_usd_micros = spent_usd_micros + ?,
      unpriced_tokens = unpriced_tokens + ? WHERE run = ?`,
  )
  // Of a cap that is not there max() makes none.
  const lift = db.prepare(
    'UPDATE runs SET cap_tokens = max(cap_tokens, ?), cap_usd_micros = max(cap_usd_micros, ?) WHERE run = ?',
  )
  return (run, { reserve, settle, raise }) => {
    if (raise !== undefined) lift.run(raise.tokens ?? 0, raise.usd_micros ?? 0, run)
    if (reserve === undefined && settle === undefined) return
    const { reserved = NOTHING, spent = NOTHING } = settle ?? {}
    const { tokens, usd_micros } = reserve ?? NOTHING
    const committed = [tokens + spent.tokens - reserved.tokens, usd_micros + spent.usd_micros - reserved.usd_micros]
    move.run(...committed, spent.tokens, spent.usd_micros, spent.unpriced_tokens ?? 0, run)
  }
}

const NOTHING: Spent = { tokens: 0, usd_micros: 0 }
