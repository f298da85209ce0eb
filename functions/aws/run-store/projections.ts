import type { LaneOwner } from '../../../shared/runs/lane-key.ts'
import type { BlockProjection } from '../../../shared/runs/run-items.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { as, from, type Item } from './attribute-values.ts'
import { itemKey } from './item-keys.ts'
import type { RunTable } from './run-table.ts'
import { keepItem } from './time-to-live.ts'

/** B#, and BI# for items of foreach blocks: the newest state of each, and the lease of its attempt. */
export function projectionsOf(
  table: RunTable,
): Pick<RunStore, 'putProjection' | 'projections' | 'itemProjections' | 'renewLease'> {
  return {
    putProjection: (run, projection) => writeProjection(table, run, projection),
    async projections(run, blocks) {
      const items =
        blocks === undefined
          ? await table.all(itemKey(run, 'B#'))
          : await table.getAll([...new Set(blocks)].map((block) => ownKey(run, { block })))
      return items.map(projectionOf).toSorted((a, b) => a.block - b.block)
    },
    async itemProjections(run, block, items) {
      if (items === undefined) return (await table.all(itemKey(run, itemPrefix(block)))).map(projectionOf)
      const found = await table.getAll([...new Set(items)].map((item) => ownKey(run, { block, item })))
      return found.map(projectionOf).toSorted((a, b) => (a.item ?? 0) - (b.item ?? 0))
    },
    async renewLease(run, owner, holder, lease_until) {
      const renewed = await table.update(ownKey(run, owner), ({ path, value }) => ({
        update: `SET ${path('lease_until')} = ${value(as.text(lease_until))}`,
        condition: `${path('holder')} = ${value(as.text(holder))} AND ${path('state')} = ${value(as.text('running'))}`,
      }))
      return renewed.ok
    },
  }
}

/** Forward only: a write that comes late or again changes nothing. */
export async function writeProjection(table: RunTable, run: RunKey, projection: BlockProjection): Promise<void> {
  const { ordinal, state, holder, lease_until } = projection
  const item: Item = {
    ...ownKey(run, projection),
    ordinal: as.number(ordinal),
    state: as.text(state),
    ...(holder === undefined ? {} : { holder: as.text(holder) }),
    ...(lease_until === undefined ? {} : { lease_until: as.text(lease_until) }),
    body: as.json(projection),
    ttl: keepItem(table),
  }
  const newer = as.number(ordinal)
  await table.put(
    item,
    ({ path, value }) => `attribute_not_exists(${path('ordinal')}) OR ${path('ordinal')} < ${value(newer)}`,
  )
}

/** Items have a prefix of their own: whoever reads the blocks does not page through a thousand items. */
function ownKey(run: RunKey, { block, item }: LaneOwner): Item {
  if (item === undefined) return itemKey(run, `B#${block}`)
  return itemKey(run, `${itemPrefix(block)}${String(item).padStart(4, '0')}`)
}

function itemPrefix(block: number): string {
  return `BI#${block}#`
}

/** A renewed lease is only in the attribute. */
function projectionOf(item: Item): BlockProjection {
  const projection: BlockProjection = JSON.parse(from.text(item, 'body'))
  const lease_until = item.lease_until?.S
  return lease_until === undefined ? projection : { ...projection, lease_until }
}
