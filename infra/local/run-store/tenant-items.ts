import type { DatabaseSync } from 'node:sqlite'
import {
  type GoalAttempts,
  type Leases,
  type Lineages,
  MAX_LEASES,
  type NotedRequests,
  type RequestRate,
  type RunQueue,
  type StartHolds,
  type StoredBytes,
  type StoredGoalAttempt,
  type Turns,
} from '../../../shared/runs/run-store.ts'
import { commitTogether, onTransactions } from '../database.ts'
import { entryWriter } from './append.ts'
import { liveRunsOf } from './live-runs.ts'
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

/** Counts kept in memory; the file has the others. */
const MOST_COUNTS = 1_000

interface RequestCount {
  readonly key: readonly [tenant: string, caller: string, window: string]
  counted: number
}

/**
 * How many requests a caller made in a window. Nobody waits for this: it is counted in memory and written with whatever
 * commit comes next, so a place that is killed may forget the last of them.
 */
export function requestRateOn(db: DatabaseSync): RequestRate {
  const there = rates.get(db)
  if (there !== undefined) return there
  const read = query<{ readonly counted: number }>(
    db,
    'SELECT counted FROM request_counts WHERE tenant = ? AND caller = ? AND window = ?',
  )
  const write = db.prepare(
    `INSERT INTO request_counts (tenant, caller, window, counted, ttl) VALUES (?, ?, ?, ?, ${COUNT_KEPT})
     ON CONFLICT DO UPDATE SET counted = excluded.counted`,
  )
  const forget = db.prepare('DELETE FROM request_counts WHERE ttl < unixepoch()')
  const counts = new Map<string, RequestCount>()
  const unwritten = new Set<RequestCount>()
  onTransactions(db, {
    beforeCommit() {
      for (const { key, counted } of unwritten) write.run(...key, counted)
      // Now and then: a window has begun.
      if ([...unwritten].some(({ counted }) => counted === 1)) forget.run()
    },
    afterCommit() {
      unwritten.clear()
      if (counts.size > MOST_COUNTS) counts.clear()
    },
  })
  const countOf = (...key: RequestCount['key']): RequestCount => {
    const name = JSON.stringify(key)
    const known = counts.get(name)
    if (known !== undefined) return known
    const made = { key, counted: read.one(...key)?.counted ?? 0 }
    counts.set(name, made)
    return made
  }
  const made: RequestRate = {
    async countRequest(tenant, caller, window, cap) {
      const count = countOf(tenant, caller, window)
      if (count.counted >= cap) return false
      count.counted += 1
      unwritten.add(count)
      return true
    },
  }
  rates.set(db, made)
  return made
}

const rates = new WeakMap<DatabaseSync, RequestRate>()

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

/** Leases by pool and holder. */
export function leasesOn(db: DatabaseSync): Leases {
  const all = query<{ readonly holder: string; readonly until: string }>(
    db,
    'SELECT holder, until FROM leases WHERE tenant = ? AND pool = ? ORDER BY holder',
  )
  const room = query<{ readonly others: number; readonly mine: number }>(
    db,
    `SELECT count(*) FILTER (WHERE holder <> ?3) AS others, count(*) FILTER (WHERE holder = ?3) AS mine
     FROM leases WHERE tenant = ?1 AND pool = ?2`,
  )
  const take = db.prepare('INSERT OR REPLACE INTO leases (tenant, pool, holder, until) VALUES (?, ?, ?, ?)')
  const extend = db.prepare(
    'UPDATE leases SET until = ?1 WHERE tenant = ?2 AND pool = ?3 AND holder = ?4 AND until < ?1',
  )
  const drop = db.prepare(
    'DELETE FROM leases WHERE tenant = ?1 AND pool = ?2 AND holder = ?3 AND until = coalesce(?4, until)',
  )
  return {
    takeLease: ({ tenant, name }, holder, until, cap) =>
      commitTogether(db, () => {
        const { others = 0, mine = 0 } = room.one(tenant, name, holder) ?? {}
        if (mine === 0 && others >= Math.min(cap, MAX_LEASES)) return false
        take.run(tenant, name, holder, until)
        return true
      }),
    leases: async ({ tenant, name }) =>
      Object.fromEntries(all.all(tenant, name).map(({ holder, until }) => [holder, until])),
    extendLeases: ({ tenant, name }, holders, until) =>
      commitTogether(db, () => {
        for (const holder of holders) extend.run(until, tenant, name, holder)
      }),
    dropLease: ({ tenant, name }, holder, until) =>
      commitTogether(db, () => {
        drop.run(tenant, name, holder, until ?? null)
      }),
  }
}

/** Runs that wait for a slot, by rank; and the step that lets one go. */
export function runQueueOn(db: DatabaseSync): RunQueue {
  const live = liveRunsOf(db)
  const owe = entryWriter(db)
  const add = db.prepare('INSERT OR IGNORE INTO queued_runs (tenant, at, run_id) VALUES (?, ?, ?)')
  const first = query<{ readonly at: string; readonly run_id: string }>(
    db,
    'SELECT at, run_id FROM queued_runs WHERE tenant = ? ORDER BY at, run_id LIMIT ?',
  )
  const remove = db.prepare('DELETE FROM queued_runs WHERE tenant = ? AND at = ? AND run_id = ?')
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
        const one = live.open(key)
        if (one?.queued !== true || one.state !== 'running') return false
        one.queued = false
        one.deadline_at = deadline_at
        one.check_at = check_at
        one.unwritten.head = one.unwritten.check = true
        live.changed(one)
        owe(one, { id: 'start', at, kind: 'start_run' })
        return true
      }),
  }
}

/** The hold of a tenant's starts, if there is one. */
export function startHoldsOn(db: DatabaseSync): StartHolds {
  const read = query<{ readonly body: string }>(db, 'SELECT body FROM start_holds WHERE tenant = ?')
  const hold = db.prepare(
    `INSERT INTO start_holds (tenant, at, body) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET at = excluded.at, body = excluded.body WHERE excluded.at > start_holds.at`,
  )
  const release = db.prepare('DELETE FROM start_holds WHERE tenant = ?')
  return {
    startHold: async (tenant) => {
      const row = read.one(tenant)
      return row === undefined ? undefined : JSON.parse(row.body)
    },
    holdStarts: (tenant, given) =>
      commitTogether(db, () => {
        hold.run(tenant, given.at, JSON.stringify(given))
      }),
    releaseStarts: (tenant) => commitTogether(db, () => release.run(tenant).changes > 0),
  }
}

/** Who has which turn, until when. */
export function turnsOn(db: DatabaseSync): Turns {
  const take = db.prepare(
    `INSERT INTO turns (tenant, name, holder, until) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET holder = excluded.holder, until = excluded.until
     WHERE turns.holder = excluded.holder OR turns.until <= ?`,
  )
  const end = db.prepare('DELETE FROM turns WHERE tenant = ? AND name = ? AND holder = ?')
  return {
    takeTurn: ({ tenant, name }, by, now, until) =>
      commitTogether(db, () => take.run(tenant, name, by, until, now).changes > 0),
    endTurn: ({ tenant, name }, by) =>
      commitTogether(db, () => {
        end.run(tenant, name, by)
      }),
  }
}
