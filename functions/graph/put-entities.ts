import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import { type Entity, readEntity } from '../../shared/graph/entity.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'
import { countUploadBytes, isOverQuota } from '../record/storage-quota.ts'
import { itemResults, type ReadItem, writeGraph } from './write-graph.ts'

/** Each item by itself: what is wrong with one is its own result. Bodies are there before an entity names one. */
export const handler = changeHandler({
  name: 'put-entities',
  schema: GRAPH_ROUTES['put-entities'],
  run: async ({ body, principal: { tenant } }, world) => {
    const given = body.entities.map((item) => readItem(item, tenant))
    const read = await withRefs(world, tenant, await withBodies(world, tenant, given))
    const entities = read.flatMap(({ item }) => item ?? [])
    const outcomes = await writeGraph(world, tenant, entities, () => world.graph.put(tenant, entities))
    return { json: { results: itemResults('entity', read, outcomes) } }
  },
})

interface Read extends ReadItem {
  readonly item?: Entity
  /** The text that came with it. */
  readonly body?: Buffer
}

/** A body that comes along is named by its hash: what is stored for it is known before it is. */
function readItem(value: unknown, tenant: string): Read {
  if (typeof value !== 'object' || value === null || !('body' in value)) return ownEntity(value, tenant)
  const { body, ...rest } = value
  const message = wrongBody(body, rest)
  if (message !== undefined) return { ...idOf(ownEntity(rest, tenant)), issues: [{ path: 'body', message }] }
  const bytes = Buffer.from(String(body))
  return { ...ownEntity({ ...rest, objectstore_ref: `objstore://${tenant}/${sha256(bytes)}` }, tenant), body: bytes }
}

function wrongBody(body: unknown, rest: object): string | undefined {
  if (typeof body !== 'string' || body === '') return 'A body is text that is not empty.'
  return 'objectstore_ref' in rest ? 'An entity has a body or an objectstore_ref, not both.' : undefined
}

function idOf({ id }: Read): Pick<Read, 'id'> {
  return id === undefined ? {} : { id }
}

/** Bodies stored or looked for at once. */
const PARALLEL = 32

/** Stores the bodies of the items that can be read. Over the tenant's quota none of them is stored. */
async function withBodies(world: World, tenant: string, read: readonly Read[]): Promise<readonly Read[]> {
  const bodies = read.flatMap(({ item, body }) => (item === undefined || body === undefined ? [] : [body]))
  if (bodies.length === 0) return read
  try {
    await countUploadBytes(
      world,
      tenant,
      bodies.reduce((sum, { byteLength }) => sum + byteLength, 0),
    )
  } catch (cause) {
    if (!isOverQuota(cause)) throw cause
    return read.map((one) => (one.body === undefined ? one : { ...idOf(one), fault: cause }))
  }
  await eachOf(bodies, (body) => world.objects.put(tenant, body))
  return read
}

async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < all.length; at += PARALLEL) await Promise.all(all.slice(at, at + PARALLEL).map(work))
}

/** The index reads a body once: an entity that names one which comes later would not be found by it. */
async function withRefs({ objects }: Pick<World, 'objects'>, tenant: string, read: readonly Read[]) {
  const refs = new Set(read.flatMap(({ item, body }) => (body === undefined ? (item?.objectstore_ref ?? []) : [])))
  const missing = new Set<string>()
  await eachOf([...refs], async (ref) => (await objects.has(tenant, ref)) || missing.add(ref))
  const message =
    'There is no such object. Put the body first (PUT /api/objects answers its ref), or send it along as "body".'
  return read.map((one): Read => {
    const ref = one.item?.objectstore_ref
    if (one.body !== undefined || ref === undefined || !missing.has(ref)) return one
    return { ...idOf(one), issues: [{ path: 'objectstore_ref', message }] }
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
