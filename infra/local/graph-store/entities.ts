import type { DatabaseSync } from 'node:sqlite'
import { checkBatch } from '../../../shared/graph/check-batch.ts'
import type { Entity } from '../../../shared/graph/entity.ts'
import { BATCH, type GraphStore } from '../../../shared/graph/graph-store.ts'
import { query } from '../run-store/query.ts'

export function entitiesOf(db: DatabaseSync): Pick<GraphStore, 'entity' | 'entities' | 'list'> {
  const one = query<{ readonly body: string }>(db, 'SELECT body FROM graph_entities WHERE tenant = ? AND entity_id = ?')
  const page = query<{ readonly entity_id: string }>(
    db,
    'SELECT entity_id FROM graph_entities WHERE tenant = ? AND entity_id > ? ORDER BY entity_id LIMIT ?',
  )
  const read = (tenant: string, entity_id: string): Entity | undefined => {
    const row = one.one(tenant, entity_id)
    return row === undefined ? undefined : JSON.parse(row.body)
  }
  return {
    entity: async (tenant, entity_id) => read(tenant, entity_id),
    entities: async (tenant, entity_ids) => {
      checkBatch(entity_ids.length)
      return entity_ids.flatMap((entity_id) => read(tenant, entity_id) ?? [])
    },
    list: async (tenant, after = '') => {
      const entity_ids = page.all(tenant, after, BATCH).map(({ entity_id }) => entity_id)
      const last = entity_ids.at(-1)
      return { entity_ids, ...(entity_ids.length < BATCH || last === undefined ? {} : { next: last }) }
    },
  }
}
