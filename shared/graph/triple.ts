import * as z from 'zod'
import { refuseEntityId } from './entity-id.ts'

/** The longest predicate: as many bytes as an entity id may have, for both are parts of index keys. */
const MAX_CHARACTERS = 256

/**
 * Dotted lower-case segments, two or more: `research.topic`, `geo.country.capital`. A segment is a letter and then
 * letters, digits, `_` or `-`.
 */
export function isPredicate(text: string): boolean {
  return text.length <= MAX_CHARACTERS && PREDICATE.test(text)
}

const PREDICATE = /^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)+$/

/** One statement of the graph (docs/research.md, "Entity ids, predicates, triples"). */
export const TripleSchema = z.strictObject({
  subject: z.string().superRefine((text, context) => {
    const refusal = refuseEntityId(text)
    if (refusal !== undefined) context.addIssue({ code: 'custom', message: refusal.message })
  }),
  predicate: z.string().refine(isPredicate, 'A predicate is dotted lower-case segments, such as geo.capital.'),
  object: z.union([z.string(), z.number(), z.boolean()]),
  /** Who says so: `agent-research-graph`, the name of a stage, an importer. */
  source: z.string().refine((text) => text.trim() !== '', 'A source is not blank.'),
  timestamp: z.iso.datetime({ offset: true }),
  confidence: z.number().min(0).max(1).default(1),
  context: z.string().optional(),
  datatype: z.string().optional(),
  /** Written by a model: no condition, hint filter or seed resolution may read it (opaque-triples.ts). */
  rule_opaque: z.boolean().default(false),
})

export type Triple = z.infer<typeof TripleSchema>

/** A six-part object is an entity id, so the triple is an edge; every other object is a literal. */
export function isEdge({ object }: Pick<Triple, 'object'>): boolean {
  return typeof object === 'string' && refuseEntityId(object) === undefined
}
