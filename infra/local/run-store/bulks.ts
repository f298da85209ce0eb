import type { DatabaseSync } from 'node:sqlite'
import type { Bulk, BulkKey, Bulks } from '../../../shared/runs/bulk.ts'
import { allCommitted, commitTogether } from '../database.ts'
import { query } from './query.ts'

/** Bulks, a row each, and a row a run of their lists. `of_run`: erasing a run leaves what became of it here. */
export function bulksOn(db: DatabaseSync): Bulks {
  const read = query<{ readonly body: string }>(db, 'SELECT body FROM bulks WHERE tenant = ? AND bulk_id = ?')
  const add = db.prepare('INSERT OR IGNORE INTO bulks (tenant, bulk_id, version, body) VALUES (?, ?, ?, ?)')
  const list = db.prepare('INSERT OR IGNORE INTO bulk_runs (tenant, bulk_id, n, of_run) VALUES (?, ?, ?, ?)')
  const move = db.prepare(
    'UPDATE bulks SET version = ?, body = ?, check_at = ? WHERE tenant = ? AND bulk_id = ? AND version = ?',
  )
  const bulkOf = ({ tenant, bulk_id }: BulkKey): Bulk | undefined => {
    const row = read.one(tenant, bulk_id)
    return row === undefined ? undefined : JSON.parse(row.body)
  }
  return {
    bulk: async (key) => bulkOf(key),
    ...listsOf(db),
    ...checksOf(db),
    putBulk: (bulk, run_ids) =>
      commitTogether(db, () => {
        const { tenant, bulk_id, version } = bulk
        for (const [n, run_id] of run_ids.entries()) list.run(tenant, bulk_id, n, run_id)
        add.run(tenant, bulk_id, version, JSON.stringify(bulk))
      }),
    moveBulk: (bulk, check_at) =>
      commitTogether(db, () => {
        const { tenant, bulk_id, version } = bulk
        return move.run(version, JSON.stringify(bulk), check_at ?? null, tenant, bulk_id, version - 1).changes > 0
      }),
  }
}

function checksOf(db: DatabaseSync): Pick<Bulks, 'bulkCheck' | 'moveBulkCheck'> {
  const check = query<{ readonly check_at: string | null }>(
    db,
    'SELECT check_at FROM bulks WHERE tenant = ? AND bulk_id = ?',
  )
  const look = db.prepare('UPDATE bulks SET check_at = ? WHERE tenant = ? AND bulk_id = ? AND check_at = ?')
  return {
    bulkCheck: async ({ tenant, bulk_id }) => check.one(tenant, bulk_id)?.check_at ?? undefined,
    moveBulkCheck: ({ tenant, bulk_id }, was, to) => commitTogether(db, () => void look.run(to, tenant, bulk_id, was)),
  }
}

interface RunRow {
  readonly n: number
  readonly of_run: string
  readonly outcome: string | null
}

function listsOf(db: DatabaseSync): Pick<Bulks, 'bulks' | 'bulkRuns' | 'putBulkOutcome'> {
  const newest = query<{ readonly body: string }>(
    db,
    'SELECT body FROM bulks WHERE tenant = ? AND (?2 IS NULL OR bulk_id < ?2) ORDER BY bulk_id DESC LIMIT ?3',
  )
  const runs = query<RunRow>(
    db,
    'SELECT n, of_run, outcome FROM bulk_runs WHERE tenant = ? AND bulk_id = ? AND n >= ? ORDER BY n LIMIT ?',
  )
  const put = db.prepare(
    'UPDATE bulk_runs SET outcome = ? WHERE tenant = ? AND bulk_id = ? AND n = ? AND outcome IS NULL',
  )
  return {
    async bulks(tenant, { limit, before }) {
      await allCommitted(db)
      return newest.all(tenant, before ?? null, limit).map(({ body }): Bulk => JSON.parse(body))
    },
    bulkRuns: async ({ tenant, bulk_id }, from, limit) =>
      runs.all(tenant, bulk_id, from, limit).map(({ n, of_run, outcome }) => ({
        n,
        run_id: of_run,
        ...(outcome === null ? {} : { outcome: JSON.parse(outcome) }),
      })),
    putBulkOutcome: ({ tenant, bulk_id }, n, outcome) =>
      commitTogether(db, () => void put.run(JSON.stringify(outcome), tenant, bulk_id, n)),
  }
}
