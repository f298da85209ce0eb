import { canonicalJson, sha256 } from '../canonical.ts'
import type { Entity } from './entity.ts'
import { asWritten } from './rule-opaque.ts'
import type { Triple } from './triple.ts'

/**
 * The one form of an entity: no empty lists, no statement twice, triples in order. Two that say the same are the same
 * text, so that importing again changes nothing.
 */
export function normalEntity({ aliases = [], triples = [], ...rest }: Entity): Entity {
  const names = [...new Set(aliases.map((alias) => alias.trim()))].toSorted()
  const stated = mergeTriples([], triples)
  return {
    ...rest,
    ...(names.length === 0 ? {} : { aliases: names }),
    ...(stated.length === 0 ? {} : { triples: [...stated] }),
  }
}

/** What is stated after `added` was said too: the same statement of the same source is replaced. */
export function mergeTriples(stated: readonly Triple[], added: readonly Triple[]): readonly Triple[] {
  const byStatement = new Map([...stated, ...added].map((triple) => [statementOf(triple), asWritten(triple)]))
  return [...byStatement].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, triple]) => triple)
}

/** Tells one version of an entity from another; `entity` in its normal form. */
export function entityHash(entity: Entity): string {
  return sha256(canonicalJson(entity))
}

/** Sorts by predicate, then object, then source. */
function statementOf({ predicate, object, source }: Triple): string {
  return JSON.stringify([predicate, object, source])
}
