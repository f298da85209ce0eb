import * as z from 'zod'
import type { SubQuery } from './sub-query.ts'

const text = z.string()
const limit = z.int()

/** A sub-query as the state of a chain keeps it. */
export const SubQuerySchema: z.ZodType<SubQuery> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('lexical'), text, limit }),
  z.object({ kind: z.literal('entity_state'), entity_id: text }),
  z.object({ kind: z.literal('temporal_range'), from: text, to: text, text, limit }),
  z.object({ kind: z.literal('predicate_walk'), entity_id: text, depth: z.int(), limit }),
  z.object({
    kind: z.literal('spatial'),
    north: z.number(),
    south: z.number(),
    east: z.number(),
    west: z.number(),
    limit,
  }),
  z.object({ kind: z.literal('relation_walk'), seeds: z.array(text), text, limit }),
  z.object({ kind: z.literal('graph_diffusion'), seeds: z.array(text), text, limit }),
])
