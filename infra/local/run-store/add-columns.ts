import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import { CHAIN_START } from '../../../shared/runs/hash-chain.ts'
import { SCHEMA_VERSION } from '../database.ts'
import { SPAN } from './schema.ts'

/** Columns that tables of earlier files lack: CREATE TABLE IF NOT EXISTS leaves a table as it is. */
const LATER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  runs: {
    queued: 'INTEGER NOT NULL DEFAULT 0',
    cap_tokens: 'INTEGER',
    cap_usd_micros: 'INTEGER',
    committed_tokens: 'INTEGER NOT NULL DEFAULT 0',
    committed_usd_micros: 'INTEGER NOT NULL DEFAULT 0',
    spent_tokens: 'INTEGER NOT NULL DEFAULT 0',
    spent_usd_micros: 'INTEGER NOT NULL DEFAULT 0',
    unpriced_tokens: 'INTEGER',
    stored_bytes: 'INTEGER',
    sealed_seq: 'INTEGER NOT NULL DEFAULT 0',
    sealed_hash: `TEXT NOT NULL DEFAULT '${CHAIN_START}'`,
  },
  /** When it was decided, expired, or its run or block ended. */
  approvals: { closed_at: 'TEXT' },
}

/** What an older row has in a column whose value follows from others. */
const FILLED: Readonly<Record<string, string>> = {
  /** Of what was spent before they were counted nobody knows it. */
  unpriced_tokens: 'UPDATE runs SET unpriced_tokens = 0 WHERE spent_tokens = 0',
  closed_at: `UPDATE approvals SET closed_at = coalesce(CASE WHEN json_valid(head) THEN head ->> 'decided_at' END,
      (SELECT e.at FROM runs r JOIN events e ON e.id = r.run * ${SPAN} + r.seq WHERE r.run = approvals.run))
    WHERE status IS NOT NULL
      AND (status <> 'pending' OR (SELECT state FROM runs r WHERE r.run = approvals.run) <> 'running')`,
}

/** When a question was asked; null where its item is damaged, so that one row keeps no index from being made. */
export const ASKED_AT = "CASE WHEN json_valid(item) THEN item ->> 'requested_at' END"

/** Over columns an older table has only now. `approvals_open` refused the whole table for one damaged item. */
const INDEXES = `
DROP INDEX IF EXISTS approvals_open;
CREATE INDEX IF NOT EXISTS approvals_asked ON approvals (${ASKED_AT}) WHERE closed_at IS NULL;
CREATE INDEX IF NOT EXISTS approvals_closed ON approvals (closed_at) WHERE closed_at IS NOT NULL;`

/**
 * Gives every table the columns it has by now, each with a default that says what an older row means; from then on an
 * older program refuses the file: it would not keep the budgets and the inbox of its runs.
 */
export function addColumns(db: DatabaseSync): void {
  if (!columnsOf(db, 'lanes').has('projected')) throw tooOld()
  for (const [table, columns] of Object.entries(LATER)) {
    const there = columnsOf(db, table)
    for (const [column, type] of Object.entries(columns)) {
      if (there.has(column)) continue
      db.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`)
      db.exec(FILLED[column] ?? '')
    }
  }
  db.exec(INDEXES)
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
}

function columnsOf(db: DatabaseSync, table: string): ReadonlySet<unknown> {
  const rows = db.prepare('SELECT name FROM pragma_table_info(?)').all(table)
  return new Set(rows.map(({ name }) => name))
}

/** Lanes and projections were tables of their own before the first version was given to anybody. */
function tooOld(): Fault {
  const message =
    'Cannot read the data folder: it was made by a program before version 0.1, whose runs this one does not read. Move it away, or choose another data folder.'
  return new Fault('InvalidInput', 'database_older', message)
}
