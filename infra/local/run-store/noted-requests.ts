import type { DatabaseSync } from 'node:sqlite'
import type { NotedRequests } from '../../../shared/runs/noted-requests.ts'
import { commitTogether } from '../transaction.ts'
import { query } from './query.ts'

/** A day, by SQLite's clock, which decides nothing else. */
const KEPT = 'unixepoch() + 86400'

/** Requests that were answered, and whether what they asked for is done. */
export function notedRequestsOf(db: DatabaseSync): NotedRequests {
  const note = db.prepare(
    `INSERT OR IGNORE INTO noted_requests (tenant, route, key, done, ttl) VALUES (?, ?, ?, 0, ${KEPT})`,
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
