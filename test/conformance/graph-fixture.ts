import fc from 'fast-check'
import { type Entity, readEntity } from '../../shared/graph/entity.ts'

export const AT = '2026-11-22T08:00:00.000Z'

/** `acme.ops.geo.atlas.place.<name>`. */
export function idOf(name: string): string {
  return `acme.ops.geo.atlas.place.${name}`
}

/** An entity in its normal form; `links` are names it borders. */
export function place(name: string, links: readonly string[] = [], over: Partial<Entity> = {}): Entity {
  return normal({
    entity_id: idOf(name),
    label: name.toUpperCase(),
    triples: links.map((link) => stated(name, 'geo.borders', idOf(link))),
    ...over,
  })
}

export function stated(name: string, predicate: string, object: string | number | boolean) {
  return { subject: idOf(name), predicate, object, source: 'import', timestamp: AT, confidence: 1, rule_opaque: false }
}

export function normal(entity: Entity): Entity {
  const read = readEntity(entity)
  if ('entity' in read) return read.entity
  throw new Error(`Cannot make entity "${entity.entity_id}": ${JSON.stringify(read.issues)}`)
}

/** Steps over six places, so that puts, links and deletions meet. */
export const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'] as const

export type GraphStep =
  | { readonly kind: 'put'; readonly entities: readonly Entity[] }
  | { readonly kind: 'delete'; readonly ids: readonly string[] }

const name = fc.constantFrom(...NAMES)
const entity = fc
  .record({ name, links: fc.uniqueArray(name, { maxLength: 4 }), contains: fc.uniqueArray(name, { maxLength: 2 }) })
  .map(({ name, links, contains }) =>
    place(name, [], {
      triples: [
        ...links.map((link) => stated(name, 'geo.borders', idOf(link))),
        ...contains.map((inner) => stated(name, 'geo.contains', idOf(inner))),
      ],
    }),
  )

export const graphSteps: fc.Arbitrary<readonly GraphStep[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .array(entity, { minLength: 1, maxLength: 3 })
        .map((entities) => ({ kind: 'put' as const, entities })),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(name, { minLength: 1, maxLength: 2 })
        .map((names) => ({ kind: 'delete' as const, ids: names.map(idOf) })),
    },
  ),
  { minLength: 1, maxLength: 8 },
)
