import type { BlockProjection, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { as, from, type Item } from './attribute-values.ts'
import { itemKey } from './item-keys.ts'
import type { RunTable } from './run-table.ts'
import { keepItem } from './time-to-live.ts'

/** B#: the newest state of each block, and the lease of its attempt. */
export function projectionsOf(table: RunTable): Pick<RunStore, 'putProjection' | 'projections' | 'renewLease'> {
  return {
    putProjection: (run, projection) => writeProjection(table, run, projection),
    async projections(run, blocks) {
      const items =
        blocks === undefined
          ? await table.all(itemKey(run, 'B#'))
          : await table.getAll([...new Set(blocks)].map((block) => blockKey(run, block)))
      return items.map(projectionOf).toSorted((a, b) => a.block - b.block)
    },
    async renewLease(run, block, holder, lease_until) {
      const renewed = await table.update(blockKey(run, block), ({ path, value }) => ({
        update: `SET ${path('lease_until')} = ${value(as.text(lease_until))}`,
        condition: `${path('holder')} = ${value(as.text(holder))} AND ${path('state')} = ${value(as.text('running'))}`,
      }))
      return renewed.ok
    },
  }
}

/** Forward only: a write that comes late or again changes nothing. */
export async function writeProjection(table: RunTable, run: RunKey, projection: BlockProjection): Promise<void> {
  const { block, ordinal, state, holder, lease_until } = projection
  const item: Item = {
    ...blockKey(run, block),
    ordinal: as.number(ordinal),
    state: as.text(state),
    ...(holder === undefined ? {} : { holder: as.text(holder) }),
    ...(lease_until === undefined ? {} : { lease_until: as.text(lease_until) }),
    body: as.json(projection),
    ttl: keepItem(table.now()),
  }
  const newer = as.number(ordinal)
  await table.put(
    item,
    ({ path, value }) => `attribute_not_exists(${path('ordinal')}) OR ${path('ordinal')} < ${value(newer)}`,
  )
}

function blockKey(run: RunKey, block: number): Item {
  return itemKey(run, `B#${block}`)
}

/** A renewed lease is only in the attribute. */
function projectionOf(item: Item): BlockProjection {
  const projection: BlockProjection = JSON.parse(from.text(item, 'body'))
  const lease_until = item.lease_until?.S
  return lease_until === undefined ? projection : { ...projection, lease_until }
}
