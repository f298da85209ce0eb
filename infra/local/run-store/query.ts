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

/** A run in words: what works about it are handed over with. */
export function nameOf({ tenant, run_id }: RunKey): string {
  return `${tenant}/${run_id}`
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
  knownRuns.get(db)?.written.clear()
}

/** A run whose row will be written with the next commit has this number. */
export function noteRunNumber(db: DatabaseSync, key: RunKey, run: number): void {
  knownRuns.get(db)?.unwritten.set(nameOf(key), run)
}

interface KnownRuns {
  readonly written: Map<string, number>
  readonly unwritten: Map<string, number>
}

const knownRuns = new WeakMap<DatabaseSync, KnownRuns>()

function openNumbers(db: DatabaseSync): (run: RunKey) => number | undefined {
  const find = query<{ readonly run: number }>(db, 'SELECT run FROM runs WHERE tenant = ? AND run_id = ?')
  const written = new Map<string, number>()
  const unwritten = new Map<string, number>()
  knownRuns.set(db, { written, unwritten })
  const keep = (key: string, run: number) => {
    if (written.size >= KNOWN_RUNS) written.clear()
    written.set(key, run)
  }
  onTransactions(db, {
    afterCommit() {
      for (const [key, run] of unwritten) keep(key, run)
      unwritten.clear()
    },
    // A run found inside a transaction that is undone is none: its number would then be another run's.
    afterRollback() {
      written.clear()
      unwritten.clear()
    },
  })
  return (one) => {
    const key = nameOf(one)
    const there = written.get(key) ?? unwritten.get(key)
    if (there !== undefined) return there
    const run = find.one(one.tenant, one.run_id)?.run
    if (run !== undefined) keep(key, run)
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
