import type { DatabaseSync } from 'node:sqlite'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import type { DeadWebhooks } from '../../../shared/webhooks/dead-webhook.ts'
import { cursorsOf } from './cursor-key.ts'
import { deadWebhooksOf } from './dead-webhooks.ts'
import { inboxOf } from './inbox.ts'
import { query } from './query.ts'
import { summaryReader } from './summaries.ts'

/** Sorts before every run: where the first page starts. */
const TOP = '~'

interface Place {
  readonly created_at: string
  readonly run_id: string
}

/** Index 1, runs by tenant and time, index 2, runs somebody must look at, and index 3, the inbox; dead webhooks too. */
export function listsOf(db: DatabaseSync): Pick<RunStore, 'list' | 'due' | 'inbox' | keyof DeadWebhooks> {
  const cursors = cursorsOf(db)
  const summary = summaryReader(db)
  const page = query<Place>(
    db,
    `SELECT run_id, created_at FROM runs
     WHERE tenant = ?1 AND (created_at, run_id) < (?2, ?3) AND (?4 IS NULL OR state = ?4)
       AND (?5 IS NULL OR dag_name = ?5)
     ORDER BY created_at DESC, run_id DESC LIMIT ?6`,
  )
  const due = query<RunKey>(db, 'SELECT tenant, run_id FROM runs WHERE check_at <= ? ORDER BY check_at, run LIMIT ?')
  return {
    ...inboxOf(db, cursors),
    ...deadWebhooksOf(db, cursors),
    list: async (tenant, { state, dag_name, limit, after }) => {
      const [created_at = TOP, last_id = TOP] = after === undefined ? [] : cursors.open(tenant, after, 'runs')
      const rows = page.all(tenant, created_at, last_id, state ?? null, dag_name ?? null, limit + 1)
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
    due: async (at, limit) => due.all(at, limit).map(({ tenant, run_id }) => ({ tenant, run_id })),
  }
}
