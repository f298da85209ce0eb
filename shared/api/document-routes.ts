import * as z from 'zod'
import { LIMITS } from '../limits.ts'
import { RunGraphSchema } from '../plan/graph-schema.ts'
import { PlanSchema } from '../plan/plan-schema.ts'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'

const text = z.string()
/** A year: longer than any run lives. */
const seconds = z.number().min(0).max(31_536_000)

/** Routes that say what a DAG will do or is doing, and what a document may hold; they change nothing. */
export const DOCUMENT_ROUTES = {
  'plan-dag': {
    summary: 'What runs of a document will do: critical path, time, transitions, events, joins, costs, limits',
    body: z.strictObject({
      dag: z.union([text.min(1), z.record(text, z.unknown())], 'a YAML text or an object'),
      durations: z
        .record(text, seconds)
        .default({})
        .describe('Seconds of work by block; of one item, where the block is a foreach'),
      default_duration: seconds.default(1).describe('Seconds of every block that durations does not name'),
      items: z
        .record(text, z.int().min(0).max(LIMITS.foreach_items))
        .default({})
        .describe('Items of a foreach block whose list comes from the run; default 1'),
      max_parallel: z.int().min(0).max(1_000).optional().describe('0 = no limit; default: the safety policy'),
    }),
    answer: PlanSchema,
  },
  'get-run-graph': {
    summary: 'The graph of a run: blocks with their live states, edges, joins, bounces, critical path',
    params: RunParamsSchema,
    answer: RunGraphSchema,
  },
  'get-dag-schema': {
    summary: 'JSON Schema (2020-12) of a DAG document',
    answer: z.record(text, z.unknown()),
  },
} as const satisfies Record<string, RouteSchema>

export const VALIDATE_DAG = {
  summary: 'Check a document: every error at once, or its order, hash and the inputs a run needs',
  body: z.strictObject({
    dag: z.union([text.min(1), z.record(text, z.unknown())], 'a YAML text or an object'),
  }),
  answer: z.strictObject({
    valid: z.boolean(),
    errors: z.array(z.looseObject({ code: text, path: text, message: text })),
    warnings: z
      .array(z.strictObject({ code: text, path: text, message: text }))
      .describe('What a valid document will suffer from when it runs'),
    /** Block ids in an order that respects every edge; empty when not valid. */
    order: z.array(text),
    dag_hash: text.optional(),
    context_inputs: z.array(z.looseObject({ name: text, required: z.boolean() })),
  }),
} as const satisfies RouteSchema
