import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import type { MentionReader, MetEdge } from '../../shared/graph/graph-store.ts'
import { httpHandler } from '../http-handler.ts'
import { requireEntityId, unknownEntityFault } from './require-entity-id.ts'

export const handler = httpHandler({
  name: 'get-neighbors',
  schema: GRAPH_ROUTES['get-neighbors'],
  run: async ({ params, query, principal: { tenant } }, world) => {
    const entity_id = requireEntityId(params)
    const { predicate, mentions: shown, ...rest } = query
    const mentions: MentionReader = async (entity_ids, direction, limit) =>
      (await world.search.links(tenant, { entity_ids, direction, limit })).links
    const asked = {
      entity_id,
      ...rest,
      ...(predicate === undefined ? {} : { predicates: predicate }),
      ...(shown === 'none' ? {} : { mentions }),
    }
    const { entities, edges, truncated } = await world.graph.neighbours(tenant, asked)
    // Of an entity without neighbours and of one that is not there the store says the same.
    if (edges.length === 0 && (await world.graph.entity(tenant, entity_id)) === undefined) throw unknownEntityFault()
    return { json: { entities: [...entities], edges: edges.map(withPlaces), truncated } }
  },
})

/** Lists of their own, as the answer's schema has them. */
function withPlaces({ places, ...edge }: MetEdge) {
  return { ...edge, ...(places === undefined ? {} : { places: [...places] }) }
}
