import type { DatabaseSync } from 'node:sqlite'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { query, runNumbers } from './query.ts'

interface Row {
  readonly version: number
  readonly body: string
}

/** CTX: the run's shared context, compare-and-set on its version. */
export function contextOf(db: DatabaseSync): Pick<RunStore, 'context' | 'putContext'> {
  const numberOf = runNumbers(db)
  const read = query<Row>(db, 'SELECT version, body FROM contexts WHERE run = ?')
  const swap = db.prepare('UPDATE contexts SET version = ?, body = ? WHERE run = ? AND version = ?')
  return {
    context: async (key) => {
      const run = numberOf(key)
      const row = run === undefined ? undefined : read.one(run)
      return row === undefined ? undefined : { version: row.version, values: JSON.parse(row.body) }
    },
    putContext: (key, { version, values }, if_version) =>
      commitTogether(db, () => {
        const run = numberOf(key)
        return run !== undefined && swap.run(version, JSON.stringify(values), run, if_version).changes > 0
      }),
  }
}
