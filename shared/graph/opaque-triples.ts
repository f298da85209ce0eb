import type { Triple } from './triple.ts'

/** Prose of a model: always written with rule_opaque true. */
const OPAQUE_PREDICATES: ReadonlySet<string> = new Set(['research.route_rationale', 'research.synthesis'])

/** What conditions, hint filters and seed resolution may read: opaque triples are left out. */
export function readableTriples(triples: readonly Triple[]): readonly Triple[] {
  return triples.filter(({ predicate, rule_opaque }) => !rule_opaque && !OPAQUE_PREDICATES.has(predicate))
}

/** The triple as it must be written: prose of a model is opaque whatever its writer said. */
export function markOpaqueProse(triple: Triple): Triple {
  return OPAQUE_PREDICATES.has(triple.predicate) ? { ...triple, rule_opaque: true } : triple
}
