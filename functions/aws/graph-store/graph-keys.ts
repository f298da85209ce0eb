import type { Edge } from '../../../shared/graph/edge.ts'
import { as, type Item } from '../run-store/attribute-values.ts'

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
