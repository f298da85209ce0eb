import type { DatabaseSync } from 'node:sqlite'
import { type Leases, MAX_LEASES } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'
import { query } from './query.ts'

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
