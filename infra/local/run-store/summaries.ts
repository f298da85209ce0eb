import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import type { DamagedRun, RunKey } from '../../../shared/runs/run-store.ts'
import { metaReader } from './create.ts'
import { headReader } from './heads.ts'

/** META and HEAD of a run, or which of them cannot be read: both are written with the run's row, in one transaction. */
export function summaryReader(db: DatabaseSync) {
  const metaOf = metaReader(db)
  const headOf = headReader(db)
  return (run: RunKey) => {
    const meta = readable(run, 'META', metaOf)
    if ('damaged' in meta) return meta
    const head = readable(run, 'HEAD', headOf)
    return 'damaged' in head ? head : { summary: { ...meta.value, head: head.value } }
  }
}

function readable<T>(run: RunKey, item: DamagedRun['item'], read: (run: RunKey) => T | undefined) {
  try {
    const value = read(run)
    if (value !== undefined) return { value }
    return { damaged: { run_id: run.run_id, item, seen: 'it is missing' } }
  } catch (error) {
    // A disk that does not answer is no damage of this run: everything would be.
    if (error instanceof Fault && error.name !== 'Bug') throw error
    return { damaged: { run_id: run.run_id, item, seen: error instanceof Error ? error.message : String(error) } }
  }
}
