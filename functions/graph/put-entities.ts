import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import type { Issue } from '../../shared/errors.ts'
import { type Entity, readEntity } from '../../shared/graph/entity.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'
import { itemResults, writeGraph } from './write-graph.ts'

/** Each item by itself: what is wrong with one is its own result. */
export const handler = changeHandler({
  name: 'put-entities',
  schema: GRAPH_ROUTES['put-entities'],
  run: async ({ body, principal: { tenant } }, world) => {
    const read = await withBodies(
      world,
      tenant,
      body.entities.map((item) => ownEntity(item, tenant)),
    )
    const entities = read.flatMap(({ item }) => item ?? [])
    const outcomes = await writeGraph(world, tenant, entities, () => world.graph.put(tenant, entities))
    return { json: { results: itemResults('entity', read, outcomes) } }
  },
})

interface Read {
  readonly id?: string
  readonly item?: Entity
  readonly issues?: readonly Issue[]
}

/** Bodies looked for at once. */
const PARALLEL = 16

/** The index reads a body once: an entity that names one which comes later would not be found by it. */
async function withBodies({ objects }: Pick<World, 'objects'>, tenant: string, read: readonly Read[]) {
  const refs = [...new Set(read.flatMap(({ item }) => item?.objectstore_ref ?? []))]
  const missing = new Set<string>()
  for (let at = 0; at < refs.length; at += PARALLEL) {
    const look = async (ref: string) => (await objects.has(tenant, ref)) || missing.add(ref)
    await Promise.all(refs.slice(at, at + PARALLEL).map(look))
  }
  const message = 'There is no such object. Put the body first (PUT /api/objects answers its ref), then the entity.'
  return read.map(({ id, item, ...rest }): Read => {
    if (item?.objectstore_ref === undefined || !missing.has(item.objectstore_ref))
      return { ...(id === undefined ? {} : { id }), ...(item === undefined ? {} : { item }), ...rest }
    return { id: item.entity_id, issues: [{ path: 'objectstore_ref', message }] }
  })
}

/** A body of another tenant is none: nobody reads it, and nobody learns whether it is there. */
function ownEntity(value: unknown, tenant: string): Read {
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
