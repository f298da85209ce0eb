import { sha256 } from '../../../shared/canonical.ts'
import type { Edge } from '../../../shared/graph/edge.ts'
import { RUN_INDEXES } from '../../../shared/runs/table.ts'
import { as, type Item } from '../run-store/attribute-values.ts'

/** Partitions of the list of a tenant's entities: an import must not fill one. */
export const LIST_SHARDS = '0123456789abcdef'

const RUNS = RUN_INDEXES.runs

/** The entity: one item, so that it is there whole or not at all. */
export function entityKey(tenant: string, entity_id: string): Item {
  return { pk: as.text(`T#${tenant}#G#${entity_id}`), sk: as.text('ENTITY') }
}

/**
 * That somebody states this of the object: a hint, in the object's partition, so that edges are found from there. The
 * subject's item decides whether it is so.
 */
export function hintKey(tenant: string, { subject, predicate, object }: Edge): Item {
  return { pk: as.text(`T#${tenant}#G#${object}`), sk: as.text(`I#${predicate}#${subject}`) }
}

/** Where the list of entities has this one: index 1 of the table, in partitions of its own. */
export function listEntry(tenant: string, entity_id: string): Item {
  const [shard = '0'] = sha256(entity_id)
  return { [RUNS.hash]: as.text(listPartition(tenant, shard)), [RUNS.range]: as.text(entity_id) }
}

export function listPartition(tenant: string, shard: string): string {
  return `T#${tenant}#G#${shard}`
}

export function manifestKey(tenant: string): Item {
  return { pk: as.text(`T#${tenant}#G`), sk: as.text('MANIFEST') }
}

export function changeKey(tenant: string, id: string): Item {
  return { pk: as.text(`T#${tenant}#G`), sk: as.text(`C#${id}`) }
}
