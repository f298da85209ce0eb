import type { DatabaseSync } from 'node:sqlite'
import type { Cursors } from '../../../shared/runs/cursors.ts'
import type { DeadWebhook, DeadWebhooks } from '../../../shared/runs/dead-webhook.ts'
import { commitTogether } from '../database.ts'
import { query } from './query.ts'

interface Row {
  readonly event_at: string
  readonly id: string
  readonly body: string
}

/** Sorts before every dead webhook: where the first page starts. */
const TOP = '~'

/** Messages nobody took; removed `retention_days` after they were buried (sweep.ts). */
export function deadWebhooksOn(db: DatabaseSync, cursors: Cursors): DeadWebhooks {
  const bury = db.prepare(
    'INSERT OR IGNORE INTO dead_webhooks (tenant, event_at, id, buried_at, body) VALUES (?, ?, ?, ?, ?)',
  )
  const change = db.prepare('UPDATE dead_webhooks SET body = ? WHERE tenant = ? AND event_at = ? AND id = ?')
  const one = query<Row>(db, 'SELECT * FROM dead_webhooks WHERE tenant = ? AND event_at = ? AND id = ?')
  const page = query<Row>(
    db,
    `SELECT event_at, id, body FROM dead_webhooks WHERE tenant = ?1 AND (event_at, id) < (?2, ?3)
     ORDER BY event_at DESC, id DESC LIMIT ?4`,
  )
  return {
    buryWebhook: (tenant, dead) =>
      commitTogether(db, () => {
        bury.run(tenant, dead.event_at, dead.id, dead.last.at, JSON.stringify(dead))
      }),
    replayedWebhook: (tenant, dead) =>
      commitTogether(db, () => {
        change.run(JSON.stringify(dead), tenant, dead.event_at, dead.id)
      }),
    deadWebhook: async (tenant, { id, event_at }) => read(one.one(tenant, event_at, id)),
    deadWebhooks: async (tenant, { limit, after }) => {
      const [event_at = TOP, id = TOP] = after === undefined ? [] : cursors.open(tenant, after, 'dead')
      const rows = page.all(tenant, event_at, id, limit + 1)
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : undefined
      return {
        dead: shown.flatMap((row) => read(row) ?? []),
        ...(last === undefined ? {} : { next: cursors.seal(tenant, [last.event_at, last.id], 'dead') }),
      }
    },
  }
}

/** Our own text. */
function read(row: Row | undefined): DeadWebhook | undefined {
  return row === undefined ? undefined : JSON.parse(row.body)
}
