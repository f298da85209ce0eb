import { checkBatch } from '../../../shared/graph/check-batch.ts'
import { BATCH, type GraphStore } from '../../../shared/graph/graph-store.ts'
import { RUN_INDEXES } from '../../../shared/runs/table.ts'
import { as, from, type Item } from '../run-store/attribute-values.ts'
import { entityKey } from './graph-keys.ts'
import type { GraphTable } from './graph-table.ts'
import { LIST_SHARDS, listEntry, listPartition } from './list-entry.ts'
import { entityOf } from './write-entity.ts'

const RUNS = RUN_INDEXES.runs

export function readsOf(table: GraphTable): Pick<GraphStore, 'entity' | 'entities' | 'list'> {
  return {
    async entity(tenant, entity_id) {
      const item = await table.get(entityKey(tenant, entity_id))
      return item === undefined ? undefined : entityOf(item)
    },
    async entities(tenant, entity_ids) {
      checkBatch(entity_ids.length)
      const found = await table.getAll([...new Set(entity_ids)].map((id) => entityKey(tenant, id)))
      const byId = new Map(found.map((item) => [entityOf(item).entity_id, entityOf(item)]))
      return entity_ids.flatMap((id) => byId.get(id) ?? [])
    },
    async list(tenant, after = '') {
      const shard = after.slice(0, 1) || (LIST_SHARDS[0] ?? '')
      const last = after.slice(1)
      const page = await table.query({
        index: RUNS.name,
        where: ({ path, value }) => ({
          condition: `${path(RUNS.hash)} = ${value(as.text(listPartition(tenant, shard)))}`,
        }),
        limit: BATCH,
        ...(last === '' ? {} : { after: { ...entityKey(tenant, last), ...listEntry(tenant, last) } }),
      })
      const next = page.last === undefined ? nextShard(shard) : shard + idOf(page.last)
      return { entity_ids: page.items.map(idOf), ...(next === undefined ? {} : { next }) }
    },
  }
}

function idOf(item: Item): string {
  return from.text(item, RUNS.range)
}

function nextShard(shard: string): string | undefined {
  return LIST_SHARDS[LIST_SHARDS.indexOf(shard) + 1]
}
