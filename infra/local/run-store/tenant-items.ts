import type { DatabaseSync } from 'node:sqlite'
import { refusesRest } from '../../../shared/runs/append-rules.ts'
import { EMPTY_QUEUE, type KeyQueue } from '../../../shared/runs/key-queue.ts'
import {
  type GoalAttempts,
  type KeyQueues,
  type LeasePool,
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
import { commitSoon, commitTogether, onTransactions, transaction } from '../database.ts'
import { liveRunsOf, oweEntry } from './live-runs.ts'
import { nameOf, query } from './query.ts'

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
  knownCounts.set(db, counts)
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
const knownCounts = new WeakMap<DatabaseSync, Map<string, RequestCount>>()

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

interface Pool {
  readonly key: string
  readonly name: LeasePool
  readonly until: Map<string, string>
}

/**
 * Leases by pool and holder: in memory once somebody has asked, and written with whatever commit comes next. A run that takes
 * one is made after that, so a place that is killed before has leased nothing.
 */
export function leasesOn(db: DatabaseSync): Leases {
  const there = leases.get(db)
  if (there !== undefined) return there
  const read = query<{ readonly holder: string; readonly until: string }>(
    db,
    'SELECT holder, until FROM leases WHERE tenant = ? AND pool = ? ORDER BY holder',
  )
  const put = db.prepare('INSERT OR REPLACE INTO leases (tenant, pool, holder, until) VALUES (?, ?, ?, ?)')
  const drop = db.prepare('DELETE FROM leases WHERE tenant = ? AND pool = ? AND holder = ?')
  const pools = new Map<string, Pool>()
  knownPools.set(db, pools)
  const unwritten = new Map<Pool, Set<string>>()
  onTransactions(db, {
    beforeCommit() {
      for (const [{ name, until }, holders] of unwritten) {
        for (const holder of holders) {
          const at = until.get(holder)
          if (at === undefined) drop.run(name.tenant, name.name, holder)
          else put.run(name.tenant, name.name, holder, at)
        }
      }
    },
    afterCommit() {
      for (const { key, until } of unwritten.keys()) if (until.size === 0) pools.delete(key)
      unwritten.clear()
    },
  })
  const poolOf = (name: LeasePool): Pool => {
    const key = JSON.stringify([name.tenant, name.name])
    const known = pools.get(key)
    if (known !== undefined) return known
    const rows = read.all(name.tenant, name.name)
    const pool = { key, name, until: new Map(rows.map(({ holder, until }) => [holder, until])) }
    pools.set(key, pool)
    return pool
  }
  const changed = (pool: Pool, holder: string) => {
    const holders = unwritten.get(pool) ?? new Set()
    unwritten.set(pool, holders.add(holder))
    commitSoon(db)
  }
  const made: Leases = {
    async takeLease(name, holder, until, cap) {
      const pool = poolOf(name)
      if (!pool.until.has(holder) && pool.until.size >= Math.min(cap, MAX_LEASES)) return false
      pool.until.set(holder, until)
      changed(pool, holder)
      return true
    },
    leases: async (name) => Object.fromEntries([...poolOf(name).until].sort()),
    async extendLeases(name, holders, until) {
      const pool = poolOf(name)
      for (const holder of holders) {
        if ((pool.until.get(holder) ?? until) >= until) continue
        pool.until.set(holder, until)
        changed(pool, holder)
      }
    },
    async dropLease(name, holder, until) {
      const pool = poolOf(name)
      const at = pool.until.get(holder)
      if (at === undefined || (until !== undefined && at > until)) return
      pool.until.delete(holder)
      changed(pool, holder)
    },
  }
  leases.set(db, made)
  return made
}

const leases = new WeakMap<DatabaseSync, Leases>()
const knownPools = new WeakMap<DatabaseSync, Map<string, Pool>>()

/** Streams of an earlier process: none is open any more. Their readers come again, and find their slots free. */
export function endStreamLeases(db: DatabaseSync): void {
  removeLeases(db, "DELETE FROM leases WHERE pool = 'streams' OR pool LIKE 'streams/%'")
}

/** What was leased and counted until now is written before, and so not afterwards; then the file is asked again. */
export function removeLeases(db: DatabaseSync, sql: string): void {
  transaction(db, () => undefined)
  db.exec(sql)
  knownPools.get(db)?.clear()
  knownCounts.get(db)?.clear()
}

/** Tenants in whose queue nobody stands, and those (or their documents) whose starts nobody holds: one memory, whoever asks. */
interface Nothing {
  readonly unqueued: Set<string>
  readonly unheld: Set<string>
}

const nothings = new WeakMap<DatabaseSync, Nothing>()

function nothingOf(db: DatabaseSync): Nothing {
  const there = nothings.get(db)
  if (there !== undefined) return there
  const made = { unqueued: new Set<string>(), unheld: new Set<string>() }
  nothings.set(db, made)
  // What was read since a transaction began that failed may not be so.
  onTransactions(db, { afterRollback: () => Object.values(made).forEach((tenants) => void tenants.clear()) })
  return made
}

const MOST_TENANTS = 1_000

function keepOne(tenants: Set<string>, tenant: string): void {
  if (tenants.size >= MOST_TENANTS) tenants.clear()
  tenants.add(tenant)
}

/** Runs that wait for a slot, by rank; and the step that lets one go. */
export function runQueueOn(db: DatabaseSync): RunQueue {
  const live = liveRunsOf(db)
  const add = db.prepare('INSERT OR IGNORE INTO queued_runs (tenant, at, run_id) VALUES (?, ?, ?)')
  const first = query<{ readonly at: string; readonly run_id: string }>(
    db,
    'SELECT at, run_id FROM queued_runs WHERE tenant = ? ORDER BY at, run_id LIMIT ?',
  )
  const remove = db.prepare('DELETE FROM queued_runs WHERE tenant = ? AND at = ? AND run_id = ?')
  // Each run that ends looks there.
  const { unqueued: empty } = nothingOf(db)
  return {
    enqueue: ({ tenant, at, run_id }) =>
      commitTogether(db, () => {
        add.run(tenant, at, run_id)
        empty.delete(tenant)
      }),
    async queued(tenant, limit) {
      if (empty.has(tenant)) return []
      const rows = first.all(tenant, limit)
      if (rows.length === 0) keepOne(empty, tenant)
      return rows.map(({ at, run_id }) => ({ tenant, run_id, at }))
    },
    dequeue: ({ tenant, at, run_id }) =>
      commitTogether(db, () => {
        remove.run(tenant, at, run_id)
      }),
    releaseQueued: (key, { at, deadline_at, check_at }) =>
      commitTogether(
        db,
        () => {
          const one = live.open(key)
          if (one?.queued !== true || one.state !== 'running') return false
          one.queued = false
          one.deadline_at = deadline_at
          one.check_at = check_at
          one.unwritten.head = one.unwritten.check = true
          live.changed(one)
          oweEntry(one, { id: 'start', at, kind: 'start_run' })
          return true
        },
        nameOf(key),
      ),
    moveRest: (key, rest, deadline_at) =>
      commitTogether(
        db,
        () => {
          const one = live.open(key)
          if (one?.state !== 'running') return false
          if (refusesRest({ resting: one.resting, works: one.running.size > 0 }, { rest })) return false
          one.resting = rest.set ?? undefined
          one.deadline_at = deadline_at ?? one.deadline_at
          one.unwritten.head = true
          live.changed(one)
          return true
        },
        nameOf(key),
      ),
  }
}

/** Runs of one key that take turns, a row a key. A row that is put away and made again has another version. */
export function keyQueuesOn(db: DatabaseSync): KeyQueues {
  const read = query<{ readonly body: string; readonly version: string }>(
    db,
    'SELECT body, version FROM key_queues WHERE tenant = ? AND queue = ?',
  )
  const add = db.prepare(
    'INSERT OR IGNORE INTO key_queues (tenant, queue, body, version) VALUES (?, ?, ?, hex(randomblob(8)))',
  )
  const replace = db.prepare(
    'UPDATE key_queues SET body = ?, version = hex(randomblob(8)) WHERE tenant = ? AND queue = ? AND version = ?',
  )
  const remove = db.prepare('DELETE FROM key_queues WHERE tenant = ? AND queue = ? AND version = ?')
  return {
    async keyQueue({ tenant, queue }) {
      const row = read.one(tenant, queue)
      if (row === undefined) return { ...EMPTY_QUEUE, version: undefined }
      const { running, waiting }: KeyQueue = JSON.parse(row.body)
      return { running, waiting, version: row.version }
    },
    putKeyQueue: ({ tenant, queue }, { running, waiting }, version) =>
      commitTogether(db, () => {
        const isEmpty = running.length === 0 && waiting.length === 0
        if (version === undefined) {
          if (isEmpty) return read.one(tenant, queue) === undefined
          return add.run(tenant, queue, JSON.stringify({ running, waiting })).changes > 0
        }
        if (isEmpty) return remove.run(tenant, queue, version).changes > 0
        return replace.run(JSON.stringify({ running, waiting }), tenant, queue, version).changes > 0
      }),
  }
}

/** The hold of a tenant's starts, if there is one, or of the starts of one document: `<tenant>/<document>`. */
export function startHoldsOn(db: DatabaseSync): StartHolds {
  const read = query<{ readonly body: string }>(db, 'SELECT body FROM start_holds WHERE tenant = ?')
  const hold = db.prepare(
    `INSERT INTO start_holds (tenant, at, body) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET at = excluded.at, body = excluded.body WHERE excluded.at > start_holds.at`,
  )
  const release = db.prepare('DELETE FROM start_holds WHERE tenant = ?')
  // Each start looks three times.
  const { unheld: free } = nothingOf(db)
  return {
    async startHold(tenant, dag) {
      const of = holdOf(tenant, dag)
      if (free.has(of)) return undefined
      const row = read.one(of)
      if (row === undefined) keepOne(free, of)
      return row === undefined ? undefined : JSON.parse(row.body)
    },
    holdStarts: (tenant, given, dag) =>
      commitTogether(db, () => {
        hold.run(holdOf(tenant, dag), given.at, JSON.stringify(given))
        free.delete(holdOf(tenant, dag))
      }),
    releaseStarts: (tenant, dag) => commitTogether(db, () => release.run(holdOf(tenant, dag)).changes > 0),
  }
}

/** No name of a tenant has a stroke. */
function holdOf(tenant: string, dag: string | undefined): string {
  return dag === undefined ? tenant : `${tenant}/${dag}`
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
