import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import type { Issue } from '../../shared/errors.ts'
import type { Entity } from '../../shared/graph/entity.ts'
import { readEntity } from '../../shared/graph/read-entity.ts'
import { changeHandler } from '../change-handler.ts'
import { itemResults } from './item-results.ts'
import { writeGraph } from './write-graph.ts'

/** Each item by itself: what is wrong with one is its own result. */
export const handler = changeHandler({
  name: 'put-entities',
  schema: GRAPH_ROUTES['put-entities'],
  run: async ({ body, principal: { tenant } }, world) => {
    const read = body.entities.map((item) => ownEntity(item, tenant))
    const entities = read.flatMap(({ item }) => item ?? [])
    const outcomes = await writeGraph(world, tenant, entities, () => world.graph.put(tenant, entities))
    return { json: { results: itemResults('entity', read, outcomes) } }
  },
})

/** A body of another tenant is none: nobody reads it, and nobody learns whether it is there. */
function ownEntity(value: unknown, tenant: string): { id?: string; item?: Entity; issues?: readonly Issue[] } {
  const read = readEntity(value)
  if (!('entity' in read))
    return { ...(read.entity_id === undefined ? {} : { id: read.entity_id }), issues: read.issues }
  const { entity_id, objectstore_ref } = read.entity
  if (objectstore_ref === undefined || objectstore_ref.startsWith(`objstore://${tenant}/`)) {
    return { id: entity_id, item: read.entity }
  }
  const message = `It names no object of yours: a ref begins with objstore://${tenant}/ (PUT /api/objects answers it).`
  return { id: entity_id, issues: [{ path: 'objectstore_ref', message }] }
}
