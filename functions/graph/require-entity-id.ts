import { Fault } from '../../shared/errors.ts'
import { refuseEntityId } from '../../shared/graph/entity-id.ts'

/** The id of a path; a refused one is not repeated. Fault InvalidInput bad_entity_id. */
export function requireEntityId({ entity_id }: { readonly entity_id: string }): string {
  const refusal = refuseEntityId(entity_id)
  if (refusal === undefined) return entity_id
  throw new Fault('InvalidInput', 'bad_entity_id', `Cannot look for this entity: ${refusal.message}`, {
    facts: { reason: refusal.reason },
  })
}

export function unknownEntityFault(): Fault {
  const message =
    'Cannot find this entity: the graph has none of that id. GET /api/graph/search finds entities by words.'
  return new Fault('NotFound', 'unknown_entity', message)
}
