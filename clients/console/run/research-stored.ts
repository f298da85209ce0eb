import { readableByRules } from '../../../shared/graph/rule-opaque.ts'
import type { Evidence } from '../../../shared/research/evidence.ts'
import type { ShownEvidence } from '../../../shared/research/shown-evidence.ts'
import type { operations } from '../../api/schema.generated.ts'
import { ApiProblem, answerOf, api } from '../api.ts'

export type StoredEvidence = Evidence & ShownEvidence
type Entity = operations['get-entity']['responses'][200]['content']['application/json']['entity']

/**
 * An item as the server has it stored now: the entity, its body, the names its edges lead to. What an answer quotes is
 * checked against this and not believed. Of an entity that is gone the snippet is left.
 */
export async function storedEvidence(item: Evidence): Promise<StoredEvidence> {
  const params = { path: { entity_id: item.entity_id } }
  const found = await unlessGone(answerOf(api.GET('/api/graph/entities/{entity_id}', { params })))
  if (found === undefined) return { ...item, text: item.snippet_text }
  const { entity } = found
  const body = entity.objectstore_ref === undefined ? undefined : await unlessGone(bodyOf(entity.objectstore_ref))
  const names = await namesBeside(entity)
  const facts = readableByRules((entity.triples ?? []) as never).map(({ predicate, object }) => {
    const text = String(object)
    return isEntityId(text)
      ? { predicate, object: names.get(text) ?? text, object_id: text }
      : { predicate, object: text }
  })
  return { ...item, label: entity.label, text: body ?? entity.snippet ?? item.snippet_text, facts }
}

/** Labels of what it leads to. */
async function namesBeside({ entity_id, triples = [] }: Entity): Promise<ReadonlyMap<string, string>> {
  if (!triples.some(({ object }) => isEntityId(String(object)))) return new Map()
  const params = { path: { entity_id }, query: { direction: 'out', limit: 1_000 } } as const
  const { entities } = await answerOf(api.GET('/api/graph/entities/{entity_id}/neighbors', { params }))
  return new Map(entities.flatMap(({ entity_id: id, label }) => (label === undefined ? [] : [[id, label] as const])))
}

async function bodyOf(ref: string): Promise<string> {
  const params = { path: { sha256: ref.split('/').at(-1) ?? '' } }
  return await answerOf(api.GET('/api/objects/{sha256}', { params, parseAs: 'text' }))
}

async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined
    throw error
  }
}

/** Six segments: what stands in an object of such a form is an edge. */
function isEntityId(text: string): boolean {
  return /^[A-Za-z0-9][\w-]*(?:\.[A-Za-z0-9][\w-]*){5}$/.test(text)
}
