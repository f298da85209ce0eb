import * as z from 'zod'
import { EntitySchema } from '../graph/entity.ts'
import { WRITE_BATCH } from '../graph/graph-store.ts'
import { TripleSchema } from '../graph/triple.ts'
import { CandidateSchema } from '../research/payloads/candidate-and-evidence.ts'
import { queryInt, type RouteSchema } from './route-schema.ts'

const text = z.string()
const count = z.int().min(0)

/** Statements of one call: no more than their subjects may be. */
const MOST_TRIPLES = WRITE_BATCH
const MOST_PREDICATES = 20

/** An item of a call, judged by itself: one that is wrong holds up no other. The document shows what it should be. */
function item(schema: z.ZodType) {
  const { $schema, ...shape } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return z.unknown().meta(shape)
}

function items(schema: z.ZodType, most: number) {
  return z.array(item(schema)).min(1).max(most)
}

const OUTCOMES = ['created', 'updated', 'unchanged', 'deleted', 'absent'] as const

/** What became of one item; nothing of it was written where it is not `ok`, and sending it again is safe. */
const ResultSchema = z.strictObject({
  at: count.describe('Place of the item in the call, from 0'),
  id: text.optional().describe('Entity id, where one could be read'),
  ok: z.boolean(),
  outcome: z.enum(OUTCOMES).optional().describe('Of a triple: of its subject'),
  error: z
    .strictObject({
      code: text,
      message: text,
      errors: z.array(z.looseObject({ path: text, message: text })).optional(),
    })
    .optional(),
})

export type ItemResult = z.output<typeof ResultSchema>

/** An entity with its body, which is stored before the entity is and named by it. */
const PutEntitySchema = EntitySchema.extend({
  body: text
    .min(1)
    .optional()
    .describe('Its text, stored as an object that the entity names: instead of objectstore_ref'),
})

const results = z.strictObject({ results: z.array(ResultSchema) })
const named = z.strictObject({ entity_id: text.min(1).max(256) })

const summary = z.strictObject({ entity_id: text, label: text.optional(), type: text, depth: count })
/** Where in the subject's texts a mention stands. */
const place = z.strictObject({
  in: text.describe('`body`, `snippet`, or the predicate of what the subject states'),
  start: count.describe('Bytes from its start'),
  end: count,
})
const edge = z.strictObject({
  subject: text,
  predicate: text,
  object: text,
  depth: count,
  places: z.array(place).optional().describe('Only of sluice.mentions and sluice.may_mention, which nobody stated'),
})

const predicates = z
  .string()
  .transform((list) => list.split(','))
  .pipe(z.array(text.min(1)).max(MOST_PREDICATES))

/** Routes of the knowledge graph. */
export const GRAPH_ROUTES = {
  'put-entities': {
    summary: `Put entities, each whole: up to ${WRITE_BATCH} a call, replaced where they are there, with their bodies; the same again changes nothing`,
    body: z.strictObject({ entities: items(PutEntitySchema, WRITE_BATCH) }),
    answer: results,
  },
  'delete-entities': {
    summary: `Delete entities with all they state, up to ${WRITE_BATCH} a call`,
    body: z.strictObject({ entity_ids: z.array(text).min(1).max(WRITE_BATCH) }),
    answer: results,
  },
  'put-triples': {
    summary: `Add statements to what their subjects state, up to ${MOST_TRIPLES} a call; a subject that is not there is made`,
    body: z.strictObject({ triples: items(TripleSchema, MOST_TRIPLES) }),
    answer: results,
  },
  'get-entity': {
    summary: 'One entity with all it states',
    params: named,
    answer: z.strictObject({ entity: EntitySchema }),
  },
  'delete-entity': {
    summary: 'Delete one entity with all it states; again it is absent',
    params: named,
    answer: z.strictObject({ entity_id: text, outcome: z.enum(['deleted', 'absent']) }),
  },
  'get-neighbors': {
    summary: 'What an entity states of others, and others of it, breadth first',
    params: named,
    query: z.strictObject({
      direction: z.enum(['in', 'out', 'both']).default('both'),
      depth: queryInt(1, 3, 1),
      predicate: predicates.optional().describe(`Only edges of these: up to ${MOST_PREDICATES}, commas between`),
      mentions: z
        .enum(['shown', 'none'])
        .default('shown')
        .describe('`none`: only what is stated, without the edges found in texts'),
      limit: queryInt(1, 1_000, 100),
    }),
    answer: z.strictObject({
      entities: z.array(summary),
      edges: z.array(edge),
      truncated: z.boolean().describe('There is more than the limits allow'),
    }),
  },
  'search-graph': {
    summary: 'Entities by words, best first; without words the newest',
    query: z.strictObject({
      q: text.max(4_000).default('').describe('"quoted words" stand together, but in a question'),
      type: text.min(1).max(500).optional().describe("The entity's type, or the fifth segment of its id"),
      domain: text.min(1).max(256).optional().describe('Third segment of the id'),
      ranking: z
        .enum(['words', 'linked'])
        .default('words')
        .describe('`linked`: also what these and the things it names are linked to, as one ranking, as a chain begins'),
      limit: queryInt(1, 1_000, 20),
    }),
    answer: z.strictObject({
      hits: z.array(CandidateSchema),
      did_you_mean: z
        .array(z.strictObject({ written: text, meant: z.array(text) }))
        .optional()
        .describe('Words that nothing has; where one word of a name is next to it, the hits are those of that word'),
      as_of: text.optional().describe('Every write answered before this moment is in the index'),
    }),
  },
} as const satisfies Record<string, RouteSchema>
