import * as z from 'zod'
import { refuseEntityId } from './entity-id.ts'

/** One thing is meant by a name that stands in a text of another. Made by the place, stated by nobody (docs/adr/0080). */
export const MENTIONS = 'sluice.mentions'

/** The name is that of several things: an edge to each, none of which is said to be meant. */
export const MAY_MENTION = 'sluice.may_mention'

/** Whether edges of this predicate are found in texts. */
export function isDerived(predicate: string): boolean {
  return predicate === MENTIONS || predicate === MAY_MENTION
}

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
  predicate: z
    .string()
    .refine(isPredicate, 'A predicate is dotted lower-case segments, such as geo.capital.')
    .refine(
      (text) => !isDerived(text),
      'sluice.mentions and sluice.may_mention are found in texts and cannot be stated: name the relation itself.',
    ),
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

/**
 * Stated by an entity that is a word: its label and aliases are words for the relation whose predicate is the object
 * (docs/research.md, "Words for relations").
 */
export const WORD_FOR = 'sluice.word_for'

/** A six-part object is an entity id, so the triple is an edge; every other object is a literal. */
export function isEdge({ object }: Pick<Triple, 'object'>): boolean {
  return typeof object === 'string' && refuseEntityId(object) === undefined
}
