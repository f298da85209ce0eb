import type { DatabaseSync } from 'node:sqlite'
import type { Amount, RunBudget, Spent } from '../../../shared/runs/budget.ts'
import type { Append } from '../../../shared/runs/run-store.ts'
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

const NO_SHARE: Amount = { tokens: 0, usd_micros: 0 }

/** What the items of a foreach block have committed together, while they are open. */
export function foreachUsageReader(db: DatabaseSync): (run: number, block: number) => Amount {
  const read = query<{ readonly body: string }>(
    db,
    "SELECT body FROM head_maps WHERE run = ? AND map = 'shares' AND key = ?",
  )
  return (run, block) => {
    const found = read.one(run, String(block))
    return found === undefined ? NO_SHARE : JSON.parse(found.body)
  }
}

/** Counts what an append reserves and settles for a foreach block; its end forgets it. */
export function foreachUsageWriter(db: DatabaseSync): (run: number, append: ShareChange) => void {
  const now = foreachUsageReader(db)
  const put = db.prepare("INSERT OR REPLACE INTO head_maps (run, map, key, body) VALUES (?, 'shares', ?, ?)")
  const forget = db.prepare("DELETE FROM head_maps WHERE run = ? AND map = 'shares' AND key = ?")
  return (run, { reserve = NO_SHARE, settle, share, drop_items }) => {
    if (drop_items !== undefined) forget.run(run, String(drop_items.block))
    if (share === undefined || share.block === drop_items?.block) return
    const { reserved = NO_SHARE, spent = NO_SHARE } = settle ?? {}
    const before = now(run, share.block)
    const after: Amount = {
      tokens: before.tokens + reserve.tokens + spent.tokens - reserved.tokens,
      usd_micros: before.usd_micros + reserve.usd_micros + spent.usd_micros - reserved.usd_micros,
    }
    put.run(run, String(share.block), JSON.stringify(after))
  }
}

type ShareChange = Pick<Append, 'reserve' | 'settle' | 'share' | 'drop_items'>
