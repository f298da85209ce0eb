import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { storeFault } from '../store-fault.ts'

/** A prepared read. Its rows are what the statement selects: the one place where SQLite's untyped rows get a type. */
export interface Query<Row> {
  one(...values: readonly SQLInputValue[]): Row | undefined
  all(...values: readonly SQLInputValue[]): readonly Row[]
}

export function query<Row>(db: DatabaseSync, sql: string): Query<Row> {
  const statement = db.prepare(sql)
  return {
    one: (...values) => reading(() => statement.get(...values) as Row | undefined),
    all: (...values) => reading(() => statement.all(...values) as unknown[] as Row[]),
  }
}

/** The integer a run has in this file; undefined when there is no such run. */
export function runNumbers(db: DatabaseSync): (run: RunKey) => number | undefined {
  const find = query<{ readonly run: number }>(db, 'SELECT run FROM runs WHERE tenant = ? AND run_id = ?')
  return ({ tenant, run_id }) => find.one(tenant, run_id)?.run
}

function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw storeFault(cause, 'read the run store')
  }
}
