import type { DatabaseSync } from 'node:sqlite'
import type { Lineages } from '../../../shared/runs/lineage.ts'
import { commitTogether } from '../transaction.ts'
import { query } from './query.ts'

/** The runs that came of a root run. */
export function lineageOf(db: DatabaseSync): Lineages {
  const add = db.prepare('INSERT OR IGNORE INTO lineages (tenant, root, run_id, at, body) VALUES (?, ?, ?, ?, ?)')
  const all = query<{ readonly body: string }>(
    db,
    'SELECT body FROM lineages WHERE tenant = ? AND root = ? ORDER BY at, run_id',
  )
  return {
    linkRun: (tenant, root, link) =>
      commitTogether(db, () => {
        add.run(tenant, root, link.run_id, link.at, JSON.stringify(link))
      }),
    lineage: async (tenant, root) => all.all(tenant, root).map(({ body }) => JSON.parse(body)),
  }
}
