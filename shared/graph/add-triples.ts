import { Fault } from '../errors.ts'
import type { Entity } from './entity.ts'
import { mergeTriples } from './normal-entity.ts'
import { readEntity } from './read-entity.ts'
import type { Triple } from './triple.ts'

/** The entity with more statements, in its normal form; Fault LimitExceeded entity_too_large. */
export function withTriples(entity: Entity, added: readonly Triple[]): Entity {
  const read = readEntity({ ...entity, triples: mergeTriples(entity.triples ?? [], added) })
  if ('entity' in read) return read.entity
  const message = `Cannot add ${added.length} triples to an entity: ${read.issues[0]?.message}`
  throw new Fault('LimitExceeded', 'entity_too_large', message)
}

/** Triples by what they are about, in the order each subject first comes. */
export function bySubject(triples: readonly Triple[]): ReadonlyMap<string, readonly Triple[]> {
  const subjects = new Map<string, Triple[]>()
  for (const triple of triples) {
    const known = subjects.get(triple.subject)
    if (known === undefined) subjects.set(triple.subject, [triple])
    else known.push(triple)
  }
  return subjects
}
