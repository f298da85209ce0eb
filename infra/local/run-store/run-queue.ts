import type { DatabaseSync } from 'node:sqlite'
import type { RunQueue } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'
import { query, runNumberLookup } from './query.ts'

/** Runs that wait for a slot, by rank; and the step that lets one go. */
export function runQueueOn(db: DatabaseSync): RunQueue {
  const numberOf = runNumberLookup(db)
  const add = db.prepare('INSERT OR IGNORE INTO queued_runs (tenant, at, run_id) VALUES (?, ?, ?)')
  const first = query<{ readonly at: string; readonly run_id: string }>(
    db,
    'SELECT at, run_id FROM queued_runs WHERE tenant = ? ORDER BY at, run_id LIMIT ?',
  )
  const remove = db.prepare('DELETE FROM queued_runs WHERE tenant = ? AND at = ? AND run_id = ?')
  const release = db.prepare(
    "UPDATE runs SET queued = 0, deadline_at = ?, check_at = ? WHERE run = ? AND queued = 1 AND state = 'running'",
  )
  const owe = db.prepare("INSERT OR REPLACE INTO outbox (run, id, at, body) VALUES (?, 'start', ?, ?)")
  return {
    enqueue: ({ tenant, at, run_id }) =>
      commitTogether(db, () => {
        add.run(tenant, at, run_id)
      }),
    queued: async (tenant, limit) => first.all(tenant, limit).map(({ at, run_id }) => ({ tenant, run_id, at })),
    dequeue: ({ tenant, at, run_id }) =>
      commitTogether(db, () => {
        remove.run(tenant, at, run_id)
      }),
    releaseQueued: (key, { at, deadline_at, check_at }) =>
      commitTogether(db, () => {
        const run = numberOf(key)
        if (run === undefined || release.run(deadline_at, check_at, run).changes === 0) return false
        owe.run(run, at, JSON.stringify({ id: 'start', at, kind: 'start_run' }))
        return true
      }),
  }
}
