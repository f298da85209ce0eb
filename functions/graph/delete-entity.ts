import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import { Fault } from '../../shared/errors.ts'
import { changeHandler } from '../http-handler.ts'
import { requireEntityId } from './require-entity-id.ts'
import { writeGraph } from './write-graph.ts'

export const handler = changeHandler({
  name: 'delete-entity',
  schema: GRAPH_ROUTES['delete-entity'],
  run: async ({ params, principal: { tenant } }, world) => {
    const id = requireEntityId(params)
    const [done] = await writeGraph(world, tenant, [id], () => world.graph.delete(tenant, [id]))
    if (done?.outcome === 'deleted' || done?.outcome === 'absent') {
      return { json: { entity_id: id, outcome: done.outcome } }
    }
    const why = done?.outcome === 'failed' ? done : { code: 'store_busy', message: 'the store said nothing.' }
    throw new Fault('Unavailable', why.code, `Cannot delete the entity: ${why.message}`)
  },
})
