import type { DatabaseSync } from 'node:sqlite'
import type { Cursors } from '../../../shared/runs/cursors.ts'
import {
  type Asked,
  type DamagedQuestion,
  type Inbox,
  type InboxFilter,
  type RunStore,
  shownApprovalStatus,
} from '../../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../../shared/runs/run-store-items.ts'
import { commitTogether } from '../database.ts'
import { liveRunsOf } from './live-runs.ts'
import { query, requireRun, runNumberLookup } from './query.ts'
import { readOrNameDamage, summaryReader } from './runs.ts'
import { ASKED_AT } from './schema.ts'

interface ApprovalRow {
  readonly item: string
  readonly slack: string | null
}

type Methods = 'putApproval' | 'approval' | 'approvals' | 'approvalTokens' | 'noteMessage'

/** A#: what a person was shown, with its task tokens. A row may be there for HEAD's part alone. */
export function approvalsOn(db: DatabaseSync): Pick<RunStore, Methods> {
  const numberOf = runNumberLookup(db)
  const live = liveRunsOf(db)
  // What was asked first stays; HEAD's part may have been there before.
  const put = db.prepare(
    'INSERT INTO approvals (run, id, item) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET item = COALESCE(item, excluded.item)',
  )
  const add = db.prepare('INSERT OR IGNORE INTO approval_tokens (run, id, token) VALUES (?, ?, ?)')
  const one = query<ApprovalRow>(db, `${READ} AND a.id = ?`)
  const all = query<ApprovalRow>(db, `${READ} ORDER BY a.id`)
  const note = db.prepare(
    `INSERT INTO approval_messages (run, id, body) SELECT run, id, ? FROM approvals WHERE run = ? AND id = ? AND item IS NOT NULL
     ON CONFLICT DO NOTHING`,
  )
  const tokens = query<{ readonly token: string }>(
    db,
    'SELECT token FROM approval_tokens WHERE run = ? AND id = ? ORDER BY token',
  )
  return {
    putApproval: (key, item, token) =>
      commitTogether(db, () => {
        const run = requireRun(numberOf(key), key)
        const one = live.peek(run)
        if (one !== undefined) one.asked = true
        put.run(run, item.id, JSON.stringify(item))
        add.run(run, item.id, token)
      }),
    approval: async (key, id) => {
      const run = numberOf(key)
      const row = run === undefined ? undefined : one.one(run, id)
      return row === undefined ? undefined : readApproval(row)
    },
    noteMessage: (key, id, message) =>
      commitTogether(db, () => {
        note.run(JSON.stringify(message), requireRun(numberOf(key), key), id)
      }),
    approvals: async (key) => {
      const run = numberOf(key)
      return run === undefined ? [] : all.all(run).map(readApproval)
    },
    approvalTokens: async (key, id) => {
      const run = numberOf(key)
      return run === undefined ? [] : tokens.all(run, id).map(({ token }) => token)
    },
  }
}

const READ = `SELECT a.item, m.body AS slack FROM approvals a LEFT JOIN approval_messages m ON m.run = a.run AND m.id = a.id
  WHERE a.run = ? AND a.item IS NOT NULL`

function readApproval({ item, slack }: ApprovalRow): ApprovalItem {
  // Our own texts, written above.
  return { ...JSON.parse(item), ...(slack === null ? {} : { slack: JSON.parse(slack) }) }
}

interface InboxRow {
  readonly at: string
  readonly run_id: string
  readonly id: string
  readonly item: string
}

/** Index 3: what is open by when it was asked, what is closed by when that was. */
export function inboxOn(db: DatabaseSync, cursors: Cursors): Inbox {
  const summary = summaryReader(db)
  const open = query<InboxRow>(
    db,
    `SELECT ${ASKED_AT} AS at, r.run_id, a.id, a.item FROM approvals a CROSS JOIN runs r USING (run)
     WHERE r.tenant = ?1 AND a.closed_at IS NULL AND ${ASKED_AT} >= ?2 AND a.item IS NOT NULL AND a.status IS NOT NULL
       AND (${ASKED_AT}, r.run_id, a.id) > (?2, ?3, ?4)
     ORDER BY 1, 2, 3 LIMIT ?5`,
  )
  const closed = query<InboxRow>(
    db,
    `SELECT a.closed_at AS at, r.run_id, a.id, a.item FROM approvals a CROSS JOIN runs r USING (run)
     WHERE r.tenant = ?1 AND a.closed_at <= ?2 AND a.item IS NOT NULL AND a.status IS NOT NULL
       AND (a.closed_at, r.run_id, a.id) < (?2, ?3, ?4)
     ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT ?5`,
  )
  // No time is known of them: they are named with the first page.
  const unreadable = query<InboxRow>(
    db,
    `SELECT '' AS at, r.run_id, a.id, a.item FROM approvals a CROSS JOIN runs r USING (run)
     WHERE r.tenant = ?1 AND a.closed_at IS NULL AND ${ASKED_AT} IS NULL AND a.item IS NOT NULL AND a.status IS NOT NULL
     ORDER BY 2, 3 LIMIT ?2`,
  )
  return {
    inbox: async (tenant, filter) => {
      const list = filter.closed ? 'closed' : 'open'
      const [at, run_id, id] = positionAfter(cursors, tenant, filter)
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

function positionAfter(cursors: Cursors, tenant: string, { closed, after }: InboxFilter) {
  const edge = closed ? '~' : ''
  if (after === undefined) return [edge, edge, edge] as const
  const [at = edge, run_id = edge, id = edge] = cursors.open(tenant, after, closed ? 'closed' : 'open')
  return [at, run_id, id] as const
}

function isFirstOpen({ after, closed }: InboxFilter): boolean {
  return after === undefined && !closed
}

/** Of several questions of one run its HEAD is read once. */
function sortedOut(summary: ReturnType<typeof summaryReader>, tenant: string, rows: readonly InboxRow[]) {
  const runs = new Map(
    [...new Set(rows.map(({ run_id }) => run_id))].map((id) => [id, summary({ tenant, run_id: id })]),
  )
  const asked: Asked[] = []
  const damaged: DamagedQuestion[] = []
  for (const { at, run_id, id, item } of rows) {
    // Our own text, written by putApproval.
    const read = readOrNameDamage({ tenant, run_id }, 'APPROVAL', (): ApprovalItem => JSON.parse(item))
    const found = runs.get(run_id)
    if (found === undefined) continue
    if ('damaged' in found) damaged.push({ ...found.damaged, approval_id: id })
    else if (shownApprovalStatus(found.summary.head, id) === undefined) continue
    else if ('damaged' in read) damaged.push({ ...read.damaged, approval_id: id })
    else {
      const { head, ...meta } = found.summary
      asked.push({ item: read.value, meta, head, at })
    }
  }
  return { asked, ...(damaged.length > 0 && { damaged }) }
}
