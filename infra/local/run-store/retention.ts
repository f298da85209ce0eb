import type { DatabaseSync } from 'node:sqlite'
import { transaction } from '../database.ts'
import { tablesWith } from './erasure.ts'
import { forgetRuns } from './live-runs.ts'
import { query } from './query.ts'
import { SPAN } from './schema.ts'

/** So many a transaction: others write in between. */
const AT_ONCE = 20

/**
 * Removes up to 20 runs, with all their rows, whose last event is older than `before` (ISO time); answers how many. They
 * must have ended, owe nothing and be held by nobody, and whoever waited for them must be gone first: the run of a parent.
 */
export function endedRunsRemover(db: DatabaseSync): (before: string) => number {
  const old = query<{ readonly run: number }>(
    db,
    `SELECT r.run FROM runs r JOIN events e ON e.id = r.run * ${SPAN} + r.seq JOIN metas m ON m.run = r.run
     WHERE r.state <> 'running' AND r.check_at IS NULL AND r.created_at < ?1 AND e.at < ?1
       AND NOT EXISTS (SELECT 1 FROM outbox WHERE run = r.run)
       AND NOT EXISTS (SELECT 1 FROM run_marks h WHERE h.tenant = r.tenant AND h.run_id = r.run_id AND h.hold IS NOT NULL)
       AND NOT EXISTS (SELECT 1 FROM runs p WHERE p.tenant = r.tenant AND p.run_id = CASE WHEN json_valid(m.body) THEN m.body ->> '$.parent.run_id' END)
     LIMIT ${AT_ONCE}`,
  )
  const events = db.prepare(`DELETE FROM events WHERE id > ?1 * ${SPAN} AND id < (?1 + 1) * ${SPAN}`)
  const rest = tablesWith(db, 'run').map((table) => db.prepare(`DELETE FROM ${table} WHERE run = ?`))
  return (before) => {
    const removed = transaction(db, () => {
      const runs = old.all(before)
      for (const { run } of runs) {
        events.run(run)
        for (const table of rest) table.run(run)
      }
      return runs.length
    })
    // A number is given again: nobody may know it as that of a run that is gone.
    if (removed > 0) forgetRuns(db)
    return removed
  }
}

/**
 * What is not one run's and grows with them: results kept for others, links of runs that are gone, and the attempts of
 * lineages of which no run is left: a number is never given twice.
 */
export function removeOldSharedItems(db: DatabaseSync, before: string): void {
  transaction(db, () => {
    db.prepare('DELETE FROM cached_results WHERE at < ?').run(before)
    db.prepare('DELETE FROM dead_webhooks WHERE buried_at < ?').run(before)
    const old =
      "SELECT tenant, bulk_id FROM bulks WHERE CASE WHEN json_valid(body) THEN body ->> '$.planned_at' END < ?"
    db.prepare(`DELETE FROM bulk_runs WHERE (tenant, bulk_id) IN (${old})`).run(before)
    db.prepare(`DELETE FROM bulks WHERE (tenant, bulk_id) IN (${old})`).run(before)
    db.prepare(
      `DELETE FROM lineages WHERE at < ? AND NOT EXISTS (
        SELECT 1 FROM runs WHERE tenant = lineages.tenant AND run_id = lineages.run_id)`,
    ).run(before)
    db.prepare(
      `DELETE FROM goal_attempts WHERE at < ? AND NOT EXISTS (
        SELECT 1 FROM runs r WHERE r.tenant = goal_attempts.tenant AND r.run_id = goal_attempts.root)
      AND NOT EXISTS (
        SELECT 1 FROM lineages l WHERE l.tenant = goal_attempts.tenant AND l.root = goal_attempts.root)`,
    ).run(before)
  })
}
