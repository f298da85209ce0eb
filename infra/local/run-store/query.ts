import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { onTransactions, storeFault } from '../database.ts'

/** A prepared read. Its rows are what the statement selects: the one place where SQLite's untyped rows get a type. */
interface Query<Row> {
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

/** The integer a run has in this file, for good; undefined when there is no such run. */
export function runNumberLookup(db: DatabaseSync): (run: RunKey) => number | undefined {
  const numbers = numbersOf.get(db) ?? openNumbers(db)
  numbersOf.set(db, numbers)
  return numbers
}

const numbersOf = new WeakMap<DatabaseSync, (run: RunKey) => number | undefined>()

/** After runs were removed: their numbers may be given again. */
export function forgetRunNumbers(db: DatabaseSync): void {
  knownRuns.get(db)?.clear()
}

const knownRuns = new WeakMap<DatabaseSync, Map<string, number>>()

function openNumbers(db: DatabaseSync): (run: RunKey) => number | undefined {
  const find = query<{ readonly run: number }>(db, 'SELECT run FROM runs WHERE tenant = ? AND run_id = ?')
  const known = new Map<string, number>()
  knownRuns.set(db, known)
  // A run found inside a transaction that is undone is none: its number would then be another run's.
  onTransactions(db, { afterRollback: () => known.clear() })
  return ({ tenant, run_id }) => {
    const key = `${tenant}/${run_id}`
    const run = known.get(key) ?? find.one(tenant, run_id)?.run
    if (run === undefined) return run
    if (known.size >= KNOWN_RUNS) known.clear()
    known.set(key, run)
    return run
  }
}

const KNOWN_RUNS = 1_000

function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw storeFault(cause, 'read the run store')
  }
}

/** Items beside HEAD belong to a run: Fault Bug no_such_run when a writer made one up. */
export function requireRun<Run>(run: Run | undefined, key: RunKey): Run {
  if (run !== undefined) return run
  const message = `Cannot write an item of run "${key.run_id}" of tenant "${key.tenant}": there is no such run. Create it first.`
  throw new Fault('Bug', 'no_such_run', message)
}
