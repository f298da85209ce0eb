import type { DatabaseSync } from 'node:sqlite'
import { type Leases, MAX_LEASES, type RunQueue, type StartHolds, type Turns } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'
import { query, runNumberLookup } from './query.ts'

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
