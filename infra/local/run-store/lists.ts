import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { type Cursors, createCursors } from '../../../shared/runs/cursors.ts'
import type { DeadWebhook, DeadWebhooks } from '../../../shared/runs/dead-webhook.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { allCommitted, commitTogether, transaction } from '../database.ts'
import { inboxOn } from './approvals.ts'
import { query, runNumberLookup } from './query.ts'
import { summaryReader } from './runs.ts'

/** Sorts before every run: where the first page starts. */
const TOP = '~'

interface RunPosition {
  readonly created_at: string
  readonly run_id: string
}

/** Index 1, runs by tenant and time, index 2, runs somebody must look at, and index 3, the inbox; dead webhooks too. */
export function listsOn(db: DatabaseSync): Pick<RunStore, 'list' | 'summaries' | 'due' | 'inbox' | keyof DeadWebhooks> {
  const cursors = cursorsOn(db)
  const summary = summaryReader(db)
  const numberOf = runNumberLookup(db)
  const page = query<RunPosition>(
    db,
    `SELECT run_id, created_at FROM runs
     WHERE tenant = ?1 AND (created_at, run_id) < (?2, ?3) AND (?4 IS NULL OR state = ?4)
       AND (?5 IS NULL OR dag_name = ?5) AND (?6 IS NULL OR substr(run_id, 1, length(?6)) = ?6)
     ORDER BY created_at DESC, run_id DESC LIMIT ?7`,
  )
  const due = query<RunKey>(
    db,
    `SELECT tenant, run_id FROM (
       SELECT tenant, run_id, check_at FROM runs WHERE check_at <= ?1
       UNION ALL SELECT tenant, run_id, check_at FROM run_marks WHERE check_at <= ?1
       UNION ALL SELECT tenant, bulk_id, check_at FROM bulks WHERE check_at <= ?1)
     GROUP BY tenant, run_id ORDER BY min(check_at) LIMIT ?2`,
  )
  return {
    ...inboxOn(db, cursors),
    ...deadWebhooksOn(db, cursors),
    list: async (tenant, { state, dag_name, id_begins, limit, after }) => {
      const [created_at = TOP, last_id = TOP] = after === undefined ? [] : cursors.open(tenant, after, 'runs')
      // Runs that were made in this moment too.
      await allCommitted(db)
      const rows = page.all(tenant, created_at, last_id, state ?? null, dag_name ?? null, id_begins ?? null, limit + 1)
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : undefined
      const read = shown.map(({ run_id }) => summary({ tenant, run_id }))
      const damaged = read.flatMap((one) => ('damaged' in one ? [one.damaged] : []))
      return {
        runs: read.flatMap((one) => ('summary' in one ? [one.summary] : [])),
        ...(damaged.length === 0 ? {} : { damaged }),
        ...(last === undefined ? {} : { next: cursors.seal(tenant, [last.created_at, last.run_id], 'runs') }),
      }
    },
    async summaries(tenant, run_ids) {
      await allCommitted(db)
      const there = run_ids.filter((run_id) => numberOf({ tenant, run_id }) !== undefined)
      const read = there.map((run_id) => summary({ tenant, run_id }))
      const damaged = read.flatMap((one) => ('damaged' in one ? [one.damaged] : []))
      return {
        runs: read.flatMap((one) => ('summary' in one ? [one.summary] : [])),
        ...(damaged.length === 0 ? {} : { damaged }),
      }
    },
    async due(at, limit) {
      await allCommitted(db)
      return due.all(at, limit).map(({ tenant, run_id }) => ({ tenant, run_id }))
    },
  }
}

/** Cursors under a key made once a file, so that they outlive the process. */
function cursorsOn(db: DatabaseSync): Cursors {
  const known = query<{ readonly key: Uint8Array }>(db, 'SELECT key FROM cursor_keys')
  const key = transaction(db, () => {
    const found = known.one()
    if (found !== undefined) return found.key
    const made = randomBytes(32)
    db.prepare('INSERT INTO cursor_keys (key) VALUES (?)').run(made)
    return made
  })
  return createCursors(key)
}

interface Row {
  readonly event_at: string
  readonly id: string
  readonly body: string
}

/** Messages nobody took; removed `retention_days` after they were buried (sweep.ts). */
function deadWebhooksOn(db: DatabaseSync, cursors: Cursors): DeadWebhooks {
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
