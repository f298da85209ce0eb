import type { DatabaseSync } from 'node:sqlite'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { query, runNumbers } from './query.ts'
import { requireRun } from './require-run.ts'

/** STOP: what dispatches in flight look at, of the whole run and of single blocks. */
export function stopsOf(db: DatabaseSync): Pick<RunStore, 'putStop' | 'stopped'> {
  const numberOf = runNumbers(db)
  const stop = db.prepare('UPDATE runs SET stopped = 1 WHERE run = ?')
  const stopBlock = db.prepare('INSERT OR IGNORE INTO stops (run, block) VALUES (?, ?)')
  const stopped = query(
    db,
    `SELECT 1 FROM runs r WHERE r.run = ?1
     AND (r.stopped = 1 OR EXISTS (SELECT 1 FROM stops WHERE run = r.run AND block = ?2))`,
  )
  return {
    putStop: (key, block) =>
      commitTogether(db, () => {
        const run = requireRun(numberOf(key), key)
        if (block === undefined) stop.run(run)
        else stopBlock.run(run, block)
      }),
    stopped: async (key, block) => {
      const run = numberOf(key)
      return run !== undefined && stopped.one(run, block ?? null) !== undefined
    },
  }
}
