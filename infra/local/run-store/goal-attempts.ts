import type { DatabaseSync } from 'node:sqlite'
import type { GoalAttempts, StoredGoalAttempt } from '../../../shared/runs/goal-attempts.ts'
import { commitTogether } from '../transaction.ts'
import { query } from './query.ts'

/** The failed attempts at the goal of a root run and of what came of it. */
export function goalAttemptsOf(db: DatabaseSync): GoalAttempts {
  const add = db.prepare(
    'INSERT OR IGNORE INTO goal_attempts (tenant, root, n, run_id, at, body) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const whose = query<{ readonly run_id: string }>(
    db,
    'SELECT run_id FROM goal_attempts WHERE tenant = ? AND root = ? AND n = ?',
  )
  const all = query<{ readonly body: string }>(
    db,
    'SELECT body FROM goal_attempts WHERE tenant = ? AND root = ? ORDER BY n',
  )
  return {
    goalAttempts: async (tenant, root) => all.all(tenant, root).map(({ body }) => JSON.parse(body)),
    putGoalAttempt: (tenant, root, n, { run_id, at, status, fingerprint, unmet, metCount, totalCount }) =>
      commitTogether(db, () => {
        const attempt: StoredGoalAttempt = { n, run_id, at, status, fingerprint, unmet, metCount, totalCount }
        add.run(tenant, root, n, run_id, at, JSON.stringify(attempt))
        return whose.one(tenant, root, n)?.run_id === run_id
      }),
  }
}
