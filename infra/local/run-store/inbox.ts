import type { DatabaseSync } from 'node:sqlite'
import {
  type Asked,
  type DamagedQuestion,
  type Inbox,
  type InboxFilter,
  shownStatus,
} from '../../../shared/runs/inbox.ts'
import type { ApprovalItem } from '../../../shared/runs/run-items.ts'
import { ASKED_AT } from './add-columns.ts'
import type { Cursors } from './cursors.ts'
import { query } from './query.ts'
import { readable, summaryReader } from './summaries.ts'

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
    `SELECT ${ASKED_AT} AS at, r.run_id, a.id, a.item FROM approvals a CROSS JOIN runs r USING (run)
     WHERE r.tenant = ?1 AND a.closed_at IS NULL AND ${ASKED_AT} >= ?2 AND a.item IS NOT NULL AND a.status IS NOT NULL
       AND (${ASKED_AT}, r.run_id, a.id) > (?2, ?3, ?4)
     ORDER BY 1, 2, 3 LIMIT ?5`,
  )
  const closed = query<Row>(
    db,
    `SELECT a.closed_at AS at, r.run_id, a.id, a.item FROM approvals a CROSS JOIN runs r USING (run)
     WHERE r.tenant = ?1 AND a.closed_at <= ?2 AND a.item IS NOT NULL AND a.status IS NOT NULL
       AND (a.closed_at, r.run_id, a.id) < (?2, ?3, ?4)
     ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT ?5`,
  )
  // No time is known of them: they are named with the first page.
  const unreadable = query<Row>(
    db,
    `SELECT '' AS at, r.run_id, a.id, a.item FROM approvals a CROSS JOIN runs r USING (run)
     WHERE r.tenant = ?1 AND a.closed_at IS NULL AND ${ASKED_AT} IS NULL AND a.item IS NOT NULL AND a.status IS NOT NULL
     ORDER BY 2, 3 LIMIT ?2`,
  )
  return {
    inbox: async (tenant, filter) => {
      const list = filter.closed ? 'closed' : 'open'
      const [at, run_id, id] = placeOf(cursors, tenant, filter)
      const rows = (filter.closed ? closed : open).all(tenant, at, run_id, id, filter.limit + 1)
      const page = rows.slice(0, filter.limit)
      const first = isFirstOpen(filter) ? unreadable.all(tenant, filter.limit) : []
      const last = rows.length > filter.limit ? page.at(-1) : undefined
      return {
        ...sortedOut(summary, tenant, [...first, ...page]),
        ...(last === undefined ? {} : { next: cursors.seal(tenant, [last.at, last.run_id, last.id], list) }),
      }
    },
  }
}

function placeOf(cursors: Cursors, tenant: string, { closed, after }: InboxFilter) {
  const edge = closed ? '~' : ''
  if (after === undefined) return [edge, edge, edge] as const
  const [at = edge, run_id = edge, id = edge] = cursors.open(tenant, after, closed ? 'closed' : 'open')
  return [at, run_id, id] as const
}

function isFirstOpen({ after, closed }: InboxFilter): boolean {
  return after === undefined && !closed
}

/** Of several questions of one run its HEAD is read once. */
function sortedOut(summary: ReturnType<typeof summaryReader>, tenant: string, rows: readonly Row[]) {
  const runs = new Map(
    [...new Set(rows.map(({ run_id }) => run_id))].map((id) => [id, summary({ tenant, run_id: id })]),
  )
  const asked: Asked[] = []
  const damaged: DamagedQuestion[] = []
  for (const { at, run_id, id, item } of rows) {
    // Our own text, written by putApproval.
    const read = readable({ tenant, run_id }, 'APPROVAL', (): ApprovalItem => JSON.parse(item))
    const found = runs.get(run_id)
    if (found === undefined) continue
    if ('damaged' in found) damaged.push({ ...found.damaged, approval_id: id })
    else if (shownStatus(found.summary.head, id) === undefined) continue
    else if ('damaged' in read) damaged.push({ ...read.damaged, approval_id: id })
    else {
      const { head, ...meta } = found.summary
      asked.push({ item: read.value, meta, head, at })
    }
  }
  return { asked, ...(damaged.length > 0 && { damaged }) }
}
