import type { DatabaseSync } from 'node:sqlite'
import { type Asked, type Inbox, shownStatus } from '../../../shared/runs/inbox.ts'
import type { Cursors } from './cursors.ts'
import { query } from './query.ts'
import { summaryReader } from './summaries.ts'

interface Row {
  readonly at: string
  readonly run_id: string
  readonly id: string
  readonly item: string
}

/** Index 3: what is open by when it was asked, what is closed by when that was. */
export function inboxOf(db: DatabaseSync, cursors: Cursors): Inbox {
  const summary = summaryReader(db)
  const open = query<Row>(
    db,
    `SELECT a.item ->> 'requested_at' AS at, r.run_id, a.id, a.item FROM approvals a CROSS JOIN runs r USING (run)
     WHERE r.tenant = ?1 AND a.closed_at IS NULL AND a.item ->> 'requested_at' >= ?2 AND a.item IS NOT NULL AND a.status IS NOT NULL
       AND (a.item ->> 'requested_at', r.run_id, a.id) > (?2, ?3, ?4)
     ORDER BY 1, 2, 3 LIMIT ?5`,
  )
  const closed = query<Row>(
    db,
    `SELECT a.closed_at AS at, r.run_id, a.id, a.item FROM approvals a CROSS JOIN runs r USING (run)
     WHERE r.tenant = ?1 AND a.closed_at <= ?2 AND a.item IS NOT NULL AND a.status IS NOT NULL
       AND (a.closed_at, r.run_id, a.id) < (?2, ?3, ?4)
     ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT ?5`,
  )
  return {
    inbox: async (tenant, filter) => {
      const list = filter.closed ? 'closed' : 'open'
      const edge = filter.closed ? '~' : ''
      const [at = edge, run_id = edge, id = edge] =
        filter.after === undefined ? [] : cursors.open(tenant, filter.after, list)
      const rows = (filter.closed ? closed : open).all(tenant, at, run_id, id, filter.limit + 1)
      const page = rows.slice(0, filter.limit)
      const last = rows.length > filter.limit ? page.at(-1) : undefined
      return {
        asked: askedOf(summary, tenant, page),
        ...(last === undefined ? {} : { next: cursors.seal(tenant, [last.at, last.run_id, last.id], list) }),
      }
    },
  }
}

/** Of several questions of one run its HEAD is read once. */
function askedOf(summary: ReturnType<typeof summaryReader>, tenant: string, rows: readonly Row[]): readonly Asked[] {
  const runs = new Map(
    [...new Set(rows.map(({ run_id }) => run_id))].map((id) => [id, summary({ tenant, run_id: id })]),
  )
  return rows.flatMap(({ at, run_id, id, item }): readonly Asked[] => {
    const found = runs.get(run_id)
    // A damaged run keeps nobody from the questions of the others; the list of runs names it.
    if (found === undefined || !('summary' in found) || shownStatus(found.summary.head, id) === undefined) return []
    const { head, ...meta } = found.summary
    // Our own text, written by putApproval.
    return [{ item: JSON.parse(item), meta, head, at }]
  })
}
