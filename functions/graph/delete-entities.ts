import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import { refuseEntityId } from '../../shared/graph/entity-id.ts'
import { changeHandler } from '../http-handler.ts'
import { itemResults, writeGraph } from './write-graph.ts'

export const handler = changeHandler({
  name: 'delete-entities',
  schema: GRAPH_ROUTES['delete-entities'],
  run: async ({ body, principal: { tenant } }, world) => {
    const read = body.entity_ids.map((id) => {
      const refusal = refuseEntityId(id)
      return refusal === undefined ? { id, item: id } : { issues: [{ path: '', message: refusal.message }] }
    })
    const ids = read.flatMap(({ item }) => item ?? [])
    const outcomes = await writeGraph(world, tenant, ids, () => world.graph.delete(tenant, ids))
    return { json: { results: itemResults('entity', read, outcomes) } }
  },
})
