import type { DatabaseSync } from 'node:sqlite'
import type { RequestRate } from '../../../shared/runs/request-rate.ts'
import { commitTogether } from '../transaction.ts'

/** Windows are minutes: after an hour nobody asks. By SQLite's clock, which decides nothing else. */
const KEPT = 'unixepoch() + 3600'

/** How many requests a caller made in a window. */
export function rateOf(db: DatabaseSync): RequestRate {
  const first = db.prepare(
    `INSERT OR IGNORE INTO request_counts (tenant, caller, window, counted, ttl) VALUES (?, ?, ?, 0, ${KEPT})`,
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
