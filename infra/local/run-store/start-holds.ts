import type { DatabaseSync } from 'node:sqlite'
import type { StartHolds } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'
import { query } from './query.ts'

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
