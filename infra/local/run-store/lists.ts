import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { metaReader } from './create.ts'
import type { Cursors } from './cursors.ts'
import { headReader } from './heads.ts'
import { query } from './query.ts'

/** Sorts before every run: where the first page starts. */
const TOP = '~'

interface Place {
  readonly created_at: string
  readonly run_id: string
}

/** Index 1, runs by tenant and time, and index 2, runs somebody must look at. */
export function listsOf(db: DatabaseSync, cursors: Cursors): Pick<RunStore, 'list' | 'due'> {
  const summary = summaryReader(db)
  const page = query<Place>(
    db,
    `SELECT run_id, created_at FROM runs
     WHERE tenant = ?1 AND (created_at, run_id) < (?2, ?3) AND (?4 IS NULL OR state = ?4)
       AND (?5 IS NULL OR dag_name = ?5)
     ORDER BY created_at DESC, run_id DESC LIMIT ?6`,
  )
  const due = query<RunKey>(db, 'SELECT tenant, run_id FROM runs WHERE check_at <= ? ORDER BY check_at, run LIMIT ?')
  return {
    list: async (tenant, { state, dag_name, limit, after }) => {
      const [created_at = TOP, last_id = TOP] = after === undefined ? [] : cursors.open(tenant, after, 'runs')
      const rows = page.all(tenant, created_at, last_id, state ?? null, dag_name ?? null, limit + 1)
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : undefined
      const runs = shown.map(({ run_id }) => summary({ tenant, run_id }))
      return {
        runs,
        ...(last === undefined ? {} : { next: cursors.seal(tenant, [last.created_at, last.run_id], 'runs') }),
      }
    },
    due: async (at, limit) => due.all(at, limit).map(({ tenant, run_id }) => ({ tenant, run_id })),
  }
}

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
