import * as z from 'zod'
import type { RouteSchema } from './route-schema.ts'

const text = z.string()

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
