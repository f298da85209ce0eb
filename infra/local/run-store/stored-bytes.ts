import type { DatabaseSync } from 'node:sqlite'
import type { StoredBytes } from '../../../shared/runs/stored-bytes.ts'
import { commitTogether } from '../transaction.ts'
import { query } from './query.ts'

/** What a tenant stored, a row a week; rows are forgotten that ended before the week that is counted. */
export function storedBytesOf(db: DatabaseSync): StoredBytes {
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
