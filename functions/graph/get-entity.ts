import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import { httpHandler } from '../http-handler.ts'
import { requireEntityId, unknownEntityFault } from './require-entity-id.ts'

export const handler = httpHandler({
  name: 'get-entity',
  schema: GRAPH_ROUTES['get-entity'],
  run: async ({ params, principal: { tenant } }, world) => {
    const entity = await world.graph.entity(tenant, requireEntityId(params))
    if (entity === undefined) throw unknownEntityFault()
    return { json: { entity } }
  },
})
