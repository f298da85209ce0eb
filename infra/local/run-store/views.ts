import type { DatabaseSync } from 'node:sqlite'
import type { SavedView, SavedViews } from '../../../shared/runs/views.ts'
import { allCommitted, commitTogether } from '../database.ts'
import { query } from './query.ts'

/** A row a view. They are never too old. */
export function viewsOn(db: DatabaseSync): SavedViews {
  const all = query<{ readonly body: string }>(db, 'SELECT body FROM saved_views WHERE tenant = ? ORDER BY name')
  const put = db.prepare('INSERT OR REPLACE INTO saved_views (tenant, name, body) VALUES (?, ?, ?)')
  const remove = db.prepare('DELETE FROM saved_views WHERE tenant = ? AND name = ?')
  return {
    async views(tenant) {
      await allCommitted(db)
      return all.all(tenant).map(({ body }): SavedView => JSON.parse(body))
    },
    putView: (tenant, view) => commitTogether(db, () => void put.run(tenant, view.name, JSON.stringify(view))),
    removeView: (tenant, name) => commitTogether(db, () => void remove.run(tenant, name)),
  }
}
