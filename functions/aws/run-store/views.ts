import type { SavedView, SavedViews } from '../../../shared/runs/views.ts'
import { as, from } from './item-encoding.ts'
import type { RunTable } from './table.ts'

/** An item a view, in a partition of the tenant: `T#<tenant>#VIEWS`. They never expire. */
export function viewsOn(table: RunTable): SavedViews {
  const keyOf = (tenant: string, name: string) => ({ pk: as.text(`T#${tenant}#VIEWS`), sk: as.text(`VIEW#${name}`) })
  return {
    async views(tenant) {
      const items = await table.all(keyOf(tenant, ''))
      return items.map((item): SavedView => JSON.parse(from.text(item, 'view')))
    },
    async putView(tenant, view) {
      await table.put({ ...keyOf(tenant, view.name), view: as.json(view) })
    },
    async removeView(tenant, name) {
      await table.remove(keyOf(tenant, name))
    },
  }
}
