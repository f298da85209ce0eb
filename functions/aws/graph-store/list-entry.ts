import { sha256 } from '../../../shared/canonical.ts'
import { RUN_INDEXES } from '../../../shared/runs/table.ts'
import { as, type Item } from '../run-store/attribute-values.ts'

/** Partitions of the list of a tenant's entities: an import must not fill one. */
export const LIST_SHARDS = '0123456789abcdef'

const RUNS = RUN_INDEXES.runs

/** Where the list of entities has this one: index 1 of the table, in partitions of its own. */
export function listEntry(tenant: string, entity_id: string): Item {
  const [shard = '0'] = sha256(entity_id)
  return { [RUNS.hash]: as.text(listPartition(tenant, shard)), [RUNS.range]: as.text(entity_id) }
}

export function listPartition(tenant: string, shard: string): string {
  return `T#${tenant}#G#${shard}`
}
