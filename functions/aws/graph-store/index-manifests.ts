import type { IndexManifests } from '../../../shared/graph/graph-store.ts'
import { as, from, type Item } from '../run-store/item-encoding.ts'
import { ifAbsent } from '../run-store/table.ts'
import type { GraphTable } from './graph-table.ts'

/** MANIFEST: which index readers open. */
export function indexManifestsOn(table: GraphTable): IndexManifests {
  return {
    async manifest(tenant) {
      const item = await table.get(manifestKey(tenant))
      if (item === undefined) return undefined
      return { version: from.number(item, 'version'), ref: from.text(item, 'ref'), as_of: from.text(item, 'as_of') }
    },
    async moveManifest(tenant, was, { ref, as_of }) {
      const mark = table.nonce()
      const fields = { version: as.number(was + 1), ref: as.text(ref), as_of: as.text(as_of), w: as.text(mark) }
      const moved = await table.put({ ...manifestKey(tenant), ...fields }, (terms) =>
        was === 0 ? ifAbsent(terms) : `${terms.path('version')} = ${terms.value(as.number(was))}`,
      )
      if (moved.ok) return true
      // Sent twice: the first sending may have done it, and its answer was lost.
      const now = moved.item ?? (await table.get(manifestKey(tenant)))
      return now?.w?.S === mark
    },
  }
}

function manifestKey(tenant: string): Item {
  return { pk: as.text(`T#${tenant}#G`), sk: as.text('MANIFEST') }
}
