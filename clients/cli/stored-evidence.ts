import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import type { Entity } from '../../shared/graph/entity.ts'
import { readableByRules } from '../../shared/graph/rule-opaque.ts'
import { isEdge } from '../../shared/graph/triple.ts'
import type { Evidence } from '../../shared/research/evidence.ts'
import type { ShownEvidence } from '../../shared/research/shown-evidence.ts'
import { callApi, openApi, type Target } from './api.ts'
import { Refused } from './refused.ts'

/** An item of evidence with what the server has stored of it now. */
export type StoredEvidence = Evidence & ShownEvidence

/**
 * Reads an item anew, so that what an answer quotes is checked here and not believed: the entity, its body, the names
 * its edges lead to. Of an entity that is gone the snippet is left.
 */
export async function storedEvidence(target: Target, item: Evidence): Promise<StoredEvidence> {
  const entity = await unlessGone(readEntity(target, item.entity_id))
  if (entity === undefined) return { ...item, text: item.snippet_text }
  const body =
    entity.objectstore_ref === undefined ? undefined : await unlessGone(readBody(target, entity.objectstore_ref))
  const names = await readNames(target, entity)
  const facts = readableByRules(entity.triples ?? []).map((triple) => {
    const object = String(triple.object)
    if (!isEdge(triple)) return { predicate: triple.predicate, object }
    return { predicate: triple.predicate, object: names.get(object) ?? object, object_id: object }
  })
  return { ...item, label: entity.label, text: body ?? entity.snippet ?? item.snippet_text, facts }
}

async function readEntity(target: Target, id: string): Promise<Entity> {
  const params = { path: { entity_id: id } }
  const answer = GRAPH_ROUTES['get-entity'].answer.loose()
  return (await callApi(target, answer, (api) => api.GET('/api/graph/entities/{entity_id}', { params }))).entity
}

async function readBody(target: Target, ref: string): Promise<string> {
  const response = await openApi(target, (api) =>
    api.GET('/api/objects/{sha256}', { params: { path: { sha256: ref.split('/').at(-1) ?? '' } } }),
  )
  return await response.text()
}

/** Labels of what it leads to. */
async function readNames(target: Target, { entity_id, triples = [] }: Entity): Promise<ReadonlyMap<string, string>> {
  if (!triples.some(isEdge)) return new Map()
  const params = { path: { entity_id }, query: { direction: 'out', limit: 1_000 } } as const
  const { entities } = await callApi(target, GRAPH_ROUTES['get-neighbors'].answer.loose(), (api) =>
    api.GET('/api/graph/entities/{entity_id}/neighbors', { params }),
  )
  return new Map(entities.flatMap(({ entity_id: id, label }) => (label === undefined ? [] : [[id, label] as const])))
}

async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
}
