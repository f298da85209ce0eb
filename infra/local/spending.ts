import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../shared/ports/host.ts'
import {
  EMPTY_LEDGER,
  fitsLedger,
  type LedgerName,
  type SpendingLedger,
  type SpendingLedgers,
} from '../../shared/spending/ledger.ts'
import { commitTogether, transaction } from './database.ts'
import { query } from './run-store/query.ts'

const SCHEMA = `
CREATE TABLE IF NOT EXISTS spending_ledgers (
  cap TEXT NOT NULL, period TEXT NOT NULL, committed_tokens INTEGER NOT NULL, committed_usd_micros INTEGER NOT NULL,
  spent_tokens INTEGER NOT NULL, spent_usd_micros INTEGER NOT NULL, told INTEGER NOT NULL, ttl INTEGER NOT NULL,
  PRIMARY KEY (cap, period)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spending_calls (
  cap TEXT NOT NULL, period TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (cap, period, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spending_raises (
  cap TEXT NOT NULL, period TEXT NOT NULL, n INTEGER NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (cap, period, n), UNIQUE (cap, period, id)) WITHOUT ROWID;`

interface LedgerRow {
  readonly committed_tokens: number
  readonly committed_usd_micros: number
  readonly spent_tokens: number
  readonly spent_usd_micros: number
  readonly told: number
}

/** The counts of spending in an open database; makes their tables when they are not there. */
export function openSpending(db: DatabaseSync, clock: Pick<Clock, 'now'>): SpendingLedgers {
  transaction(db, () => db.exec(SCHEMA))
  const read = ledgerReader(db)
  const make = db.prepare('INSERT OR IGNORE INTO spending_ledgers VALUES (?, ?, 0, 0, 0, 0, 0, ?)')
  const forget = forgetter(db)
  const open = db.prepare('INSERT OR IGNORE INTO spending_calls VALUES (?, ?, ?)')
  const isOpen = query(db, 'SELECT 1 FROM spending_calls WHERE cap = ? AND period = ? AND id = ?')
  const close = db.prepare('DELETE FROM spending_calls WHERE cap = ? AND period = ? AND id = ?')
  const count = db.prepare(
    `UPDATE spending_ledgers SET committed_tokens = committed_tokens + ?3,
       committed_usd_micros = committed_usd_micros + ?4, spent_tokens = spent_tokens + ?5,
       spent_usd_micros = spent_usd_micros + ?6 WHERE cap = ?1 AND period = ?2`,
  )
  const addRaise = db.prepare(
    `INSERT OR IGNORE INTO spending_raises
     SELECT ?1, ?2, coalesce(max(n), 0) + 1, ?3, ?4 FROM spending_raises WHERE cap = ?1 AND period = ?2`,
  )
  const tell = db.prepare('UPDATE spending_ledgers SET told = 1 WHERE cap = ? AND period = ?')
  return {
    reserve: ({ cap, period }, { id, amount }, limit, ttl) =>
      commitTogether(db, () => {
        const now = read({ cap, period })
        if (isOpen.one(cap, period, id) !== undefined) return { ok: true, now }
        if (!fitsLedger(now, limit, amount)) return { ok: false, now }
        if (make.run(cap, period, ttl).changes > 0) forget(clock.now())
        open.run(cap, period, id)
        count.run(cap, period, amount.tokens, amount.usd_micros, 0, 0)
        return { ok: true, now: read({ cap, period }) }
      }),
    settle: ({ cap, period }, { id, amount }, used) =>
      commitTogether(db, () => {
        if (close.run(cap, period, id).changes === 0) return undefined
        const more = [used.tokens - amount.tokens, used.usd_micros - amount.usd_micros] as const
        count.run(cap, period, ...more, used.tokens, used.usd_micros)
        return read({ cap, period })
      }),
    read: async (of) => read(of),
    raise: ({ cap, period }, raise, ttl) =>
      commitTogether(db, () => {
        make.run(cap, period, ttl)
        addRaise.run(cap, period, raise.id, JSON.stringify(raise))
        return read({ cap, period })
      }),
    noteTold: ({ cap, period }) =>
      commitTogether(db, () => {
        tell.run(cap, period)
      }),
  }
}

function ledgerReader(db: DatabaseSync): (of: LedgerName) => SpendingLedger {
  const one = query<LedgerRow>(
    db,
    `SELECT committed_tokens, committed_usd_micros, spent_tokens, spent_usd_micros, told
     FROM spending_ledgers WHERE cap = ? AND period = ?`,
  )
  const all = query<{ readonly body: string }>(
    db,
    'SELECT body FROM spending_raises WHERE cap = ? AND period = ? ORDER BY n',
  )
  return ({ cap, period }) => {
    const row = one.one(cap, period)
    if (row === undefined) return EMPTY_LEDGER
    const raises: SpendingLedger['raises'] = all.all(cap, period).map(({ body }) => JSON.parse(body))
    return {
      committed: { tokens: row.committed_tokens, usd_micros: row.committed_usd_micros },
      spent: { tokens: row.spent_tokens, usd_micros: row.spent_usd_micros },
      raised: {
        tokens: raises.reduce((sum, { tokens }) => sum + tokens, 0),
        usd_micros: raises.reduce((sum, { usd_micros }) => sum + usd_micros, 0),
      },
      raises,
      told: row.told === 1,
    }
  }
}

/** Removes ledgers whose time is over, with what belongs to them: when the first call of a new one is counted. */
function forgetter(db: DatabaseSync): (now: number) => void {
  const over = 'SELECT 1 FROM spending_ledgers l WHERE l.cap = o.cap AND l.period = o.period AND l.ttl < ?1'
  const all = [
    db.prepare(`DELETE FROM spending_calls AS o WHERE EXISTS (${over})`),
    db.prepare(`DELETE FROM spending_raises AS o WHERE EXISTS (${over})`),
    db.prepare('DELETE FROM spending_ledgers WHERE ttl < ?1'),
  ]
  return (now) => {
    for (const one of all) one.run(Math.floor(now / 1_000))
  }
}
