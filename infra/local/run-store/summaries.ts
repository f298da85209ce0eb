import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { metaReader } from './create.ts'
import { headReader } from './heads.ts'

/** META and HEAD of a run. */
export function summaryReader(db: DatabaseSync) {
  const metaOf = metaReader(db)
  const headOf = headReader(db)
  return (run: RunKey) => {
    const meta = metaOf(run)
    const head = headOf(run)
    // Both are written with the run's row, in one transaction.
    if (meta === undefined || head === undefined) {
      throw new Fault('Bug', 'database_corrupt', `Cannot list run "${run.run_id}": its META is missing.`)
    }
    return { ...meta, head }
  }
}
