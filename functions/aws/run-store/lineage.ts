import type { Lineages, RunLink } from '../../../shared/runs/lineage.ts'
import { as, from, type Item } from './attribute-values.ts'
import type { RunTable } from './run-table.ts'
import { ifAbsent } from './table-writes.ts'
import { keepBirth } from './time-to-live.ts'

/** LINEAGE#: one item a run that came of the root, so that a long line of runs never fills an item. */
export function lineageOf(table: RunTable): Lineages {
  return {
    async linkRun(tenant, root, link) {
      const item = { ...linkKey(tenant, root, link.run_id), link: as.json(link), ttl: keepBirth(table) }
      await table.put(item, ifAbsent)
    },
    async lineage(tenant, root) {
      const items = await table.all(linkKey(tenant, root, ''))
      const links = items.map((item): RunLink => JSON.parse(from.text(item, 'link')))
      return links.toSorted((a, b) => (`${a.at} ${a.run_id}` < `${b.at} ${b.run_id}` ? -1 : 1))
    },
  }
}

function linkKey(tenant: string, root: string, run_id: string): Item {
  return { pk: as.text(`T#${tenant}#L#${root}`), sk: as.text(`LINEAGE#${run_id}`) }
}
