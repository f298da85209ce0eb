import type { DatabaseSync } from 'node:sqlite'
import { CHAIN_START } from '../../../shared/runs/hash-chain.ts'
import { SCHEMA_VERSION } from '../database.ts'

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
    sealed_seq: 'INTEGER NOT NULL DEFAULT 0',
    sealed_hash: `TEXT NOT NULL DEFAULT '${CHAIN_START}'`,
  },
}

/**
 * Gives every table the columns it has by now, each with a default that says what an older row means; from then on an
 * older program refuses the file: it would not keep the budgets of its runs.
 */
export function addColumns(db: DatabaseSync): void {
  for (const [table, columns] of Object.entries(LATER)) {
    const there = new Set(
      db
        .prepare('SELECT name FROM pragma_table_info(?)')
        .all(table)
        .map(({ name }) => name),
    )
    for (const [column, type] of Object.entries(columns)) {
      if (!there.has(column)) db.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`)
    }
  }
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
}
