import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { transaction } from '../transaction.ts'
import { metaReader } from './create.ts'
import { createCursors, type Position } from './cursors.ts'
import { headReader } from './heads.ts'
import { query } from './query.ts'

/** Sorts before every run: where the first page starts. */
const TOP: Position = { created_at: '~', run_id: '~' }

/** Index 1, runs by tenant and time, and index 2, runs somebody must look at. */
export function listsOf(db: DatabaseSync): Pick<RunStore, 'list' | 'due'> {
  const cursors = createCursors(cursorKey(db))
  const summary = summaryReader(db)
  const page = query<Position>(
    db,
    `SELECT run_id, created_at FROM runs
     WHERE tenant = ?1 AND (created_at, run_id) < (?2, ?3) AND (?4 IS NULL OR state = ?4)
       AND (?5 IS NULL OR dag_name = ?5)
     ORDER BY created_at DESC, run_id DESC LIMIT ?6`,
  )
  const due = query<RunKey>(db, 'SELECT tenant, run_id FROM runs WHERE check_at <= ? ORDER BY check_at, run LIMIT ?')
  return {
    list: async (tenant, { state, dag_name, limit, after }) => {
      const from = after === undefined ? TOP : cursors.open(tenant, after)
      const rows = page.all(tenant, from.created_at, from.run_id, state ?? null, dag_name ?? null, limit + 1)
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : undefined
      const runs = shown.map(({ run_id }) => summary({ tenant, run_id }))
      return { runs, ...(last === undefined ? {} : { next: cursors.seal(tenant, last) }) }
    },
    due: async (at, limit) => due.all(at, limit).map(({ tenant, run_id }) => ({ tenant, run_id })),
  }
}

function summaryReader(db: DatabaseSync) {
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

/** Made once a file, so that a cursor outlives the process. */
function cursorKey(db: DatabaseSync): Uint8Array {
  const known = query<{ readonly key: Uint8Array }>(db, 'SELECT key FROM cursor_keys')
  return transaction(db, () => {
    const found = known.one()
    if (found !== undefined) return found.key
    const key = randomBytes(32)
    db.prepare('INSERT INTO cursor_keys (key) VALUES (?)').run(key)
    return key
  })
}
