import type { DatabaseSync } from 'node:sqlite'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { query } from './query.ts'

/** C#: earlier results by definition and inputs, of any run of the tenant; the newest stays. */
export function cachedOf(db: DatabaseSync): Pick<RunStore, 'cached' | 'putCached'> {
  const read = query<{ readonly body: string }>(
    db,
    'SELECT body FROM cached_results WHERE tenant = ? AND block_hash = ? AND inputs_hash = ?',
  )
  const put = db.prepare(
    `INSERT INTO cached_results (tenant, block_hash, inputs_hash, at, body) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET at = excluded.at, body = excluded.body WHERE excluded.at > cached_results.at`,
  )
  return {
    cached: async (tenant, block_hash, inputs_hash) => {
      const row = read.one(tenant, block_hash, inputs_hash)
      return row === undefined ? undefined : JSON.parse(row.body)
    },
    putCached: (tenant, block_hash, inputs_hash, result) =>
      commitTogether(db, () => {
        put.run(tenant, block_hash, inputs_hash, result.at, JSON.stringify(result))
      }),
  }
}
