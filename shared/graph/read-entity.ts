import { canonicalJson } from '../canonical.ts'
import type { Issue } from '../errors.ts'
import { ENTITY_LIMITS, type Entity, EntitySchema } from './entity.ts'
import { normalEntity } from './normal-entity.ts'

/** Issues told of one bad entity: zod's may be as many as it has triples. */
const MOST_ISSUES = 10

/**
 * One item of an import: the entity as stores keep it, or what is wrong with it. `entity_id` where one could be read,
 * so that a result names its item.
 */
export function readEntity(
  value: unknown,
): { readonly entity: Entity } | { readonly entity_id?: string; readonly issues: readonly Issue[] } {
  const parsed = EntitySchema.safeParse(value)
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, MOST_ISSUES)
    return { ...idOf(value), issues: issues.map(({ path, message }) => ({ path: path.join('.'), message })) }
  }
  const entity = normalEntity(parsed.data)
  const issues = [...strangers(parsed.data), ...tooLong(parsed.data), ...tooLarge(entity)]
  return issues.length === 0 ? { entity } : { ...idOf(value), issues: issues.slice(0, MOST_ISSUES) }
}

function idOf(value: unknown): { readonly entity_id?: string } {
  const id = EntitySchema.pick({ entity_id: true }).loose().safeParse(value)
  return id.success ? { entity_id: id.data.entity_id } : {}
}

function strangers({ entity_id, triples = [] }: Entity): readonly Issue[] {
  return triples.flatMap(({ subject }, at) => {
    const message = 'The subject of a triple is the entity it stands in.'
    return subject === entity_id ? [] : [{ path: `triples.${at}.subject`, message }]
  })
}

function tooLong({ triples = [] }: Entity): readonly Issue[] {
  const most = ENTITY_LIMITS.object_characters
  return triples.flatMap(({ object }, at) => {
    if (typeof object !== 'string' || object.length <= most) return []
    const message = `It has ${object.length} characters, at most ${most} are allowed: store it as an object and name its ref.`
    return [{ path: `triples.${at}.object`, message }]
  })
}

function tooLarge(entity: Entity): readonly Issue[] {
  const bytes = Buffer.byteLength(canonicalJson(entity))
  const most = ENTITY_LIMITS.json_bytes
  if (bytes <= most) return []
  const message = `The entity has ${bytes} bytes of JSON, at most ${most} are allowed: store large texts as objects.`
  return [{ path: '', message }]
}
