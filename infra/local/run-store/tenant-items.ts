import type { DatabaseSync } from 'node:sqlite'
import type {
  GoalAttempts,
  Lineages,
  NotedRequests,
  RequestRate,
  StoredBytes,
  StoredGoalAttempt,
} from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'
import { query } from './query.ts'

/** A day, by SQLite's clock, which decides nothing else. */
const REQUEST_KEPT = 'unixepoch() + 86400'

/** Requests that were answered, and whether what they asked for is done. */
export function notedRequestsOn(db: DatabaseSync): NotedRequests {
  const note = db.prepare(
    `INSERT OR IGNORE INTO noted_requests (tenant, route, key, done, ttl) VALUES (?, ?, ?, 0, ${REQUEST_KEPT})`,
  )
  const forget = db.prepare('DELETE FROM noted_requests WHERE ttl < unixepoch()')
  const read = query<{ readonly done: number }>(
    db,
    'SELECT done FROM noted_requests WHERE tenant = ? AND route = ? AND key = ?',
  )
  const end = db.prepare('UPDATE noted_requests SET done = 1 WHERE tenant = ? AND route = ? AND key = ?')
  return {
    noteRequest: ({ tenant, route, key }) =>
      commitTogether(db, () => {
        if (note.run(tenant, route, key).changes > 0) {
          forget.run()
          return 'first'
        }
        return read.one(tenant, route, key)?.done === 1 ? 'done' : 'open'
      }),
    endRequest: ({ tenant, route, key }) =>
      commitTogether(db, () => {
        end.run(tenant, route, key)
      }),
  }
}

/** Windows are minutes: after an hour nobody asks. By SQLite's clock, which decides nothing else. */
const COUNT_KEPT = 'unixepoch() + 3600'

/** How many requests a caller made in a window. */
export function requestRateOn(db: DatabaseSync): RequestRate {
  const first = db.prepare(
    `INSERT OR IGNORE INTO request_counts (tenant, caller, window, counted, ttl) VALUES (?, ?, ?, 0, ${COUNT_KEPT})`,
  )
  const forget = db.prepare('DELETE FROM request_counts WHERE ttl < unixepoch()')
  const count = db.prepare(
    `UPDATE request_counts SET counted = counted + 1
     WHERE tenant = ? AND caller = ? AND window = ? AND counted < ?`,
  )
  return {
    countRequest: (tenant, caller, window, cap) =>
      commitTogether(db, () => {
        if (first.run(tenant, caller, window).changes > 0) forget.run()
        return count.run(tenant, caller, window, cap).changes > 0
      }),
  }
}

/** What a tenant stored, a row a week; rows are forgotten that ended before the week that is counted. */
export function storedBytesOn(db: DatabaseSync): StoredBytes {
  const add = db.prepare(
    `INSERT INTO stored_by_week (tenant, week, bytes, ttl) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes, ttl = excluded.ttl`,
  )
  const forget = db.prepare('DELETE FROM stored_by_week WHERE ttl < ?')
  const sum = query<{ readonly bytes: number }>(
    db,
    'SELECT coalesce(sum(bytes), 0) AS bytes FROM stored_by_week WHERE tenant = ? AND week >= ?',
  )
  return {
    countStored: (tenant, { week, bytes, ttl }) =>
      commitTogether(db, () => {
        add.run(tenant, week, bytes, ttl)
        forget.run(Date.parse(week) / 1_000)
      }),
    storedSince: async (tenant, week) => sum.one(tenant, week)?.bytes ?? 0,
  }
}

/** The runs that came of a root run. */
export function lineageOn(db: DatabaseSync): Lineages {
  const add = db.prepare('INSERT OR IGNORE INTO lineages (tenant, root, run_id, at, body) VALUES (?, ?, ?, ?, ?)')
  const all = query<{ readonly body: string }>(
    db,
    'SELECT body FROM lineages WHERE tenant = ? AND root = ? ORDER BY at, run_id',
  )
  return {
    linkRun: (tenant, root, link) =>
      commitTogether(db, () => {
        add.run(tenant, root, link.run_id, link.at, JSON.stringify(link))
      }),
    lineage: async (tenant, root) => all.all(tenant, root).map(({ body }) => JSON.parse(body)),
  }
}

/** The failed attempts at the goal of a root run and of what came of it. */
export function goalAttemptsOn(db: DatabaseSync): GoalAttempts {
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
