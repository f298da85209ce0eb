import * as z from 'zod'
import type { Json } from '../canonical.ts'
import { compileProblem } from './compile-schema.ts'
import { schemaProblem } from './schema-budget.ts'

const SchemaSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  // Compiled here too, inside the budget: an unknown keyword or bad pattern is found when the DAG is parsed.
  const problem = schemaProblem(schema) ?? compileProblem(schema as { readonly [key: string]: Json })
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
})

/** A JSON Schema as a gate's parameter; schemaProblem() lets only JSON through. */
export const JsonSchemaParam = SchemaSchema as unknown as z.ZodType<{ readonly [key: string]: Json }>
