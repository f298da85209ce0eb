import * as z from 'zod'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'
import { DocumentSchema, RUN_VALUES } from './run-values.ts'

const text = z.string()

const RetryRunBodySchema = z.strictObject({
  from_block: text
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'a block id is a letter, then letters, digits, _ or -')
    .optional()
    .describe('This block and all that depend on it begin again; without it, what did not complete does'),
  dag: DocumentSchema.describe('An edited document; without it, the one the earlier run was pinned to'),
  ...RUN_VALUES,
})

/** The body of POST .../retry, parsed. What is not given is as in the earlier run. */
export type RetryRunBody = z.output<typeof RetryRunBodySchema>

/** Routes between runs of one lineage. */
export const LINEAGE_ROUTES = {
  'retry-run': {
    summary: 'Start a linked run that takes over the results of an ended one where definition and inputs are the same',
    params: RunParamsSchema,
    body: RetryRunBodySchema,
    status: 201,
    answer: z.strictObject({
      run_id: text,
      dag_name: text,
      dag_hash: text,
      blocks: z.int(),
      edges: z.int(),
      retry_of: text,
      reused_expected: z.array(text).describe('Blocks whose results it will most likely take over'),
      links: z.record(text, text),
    }),
  },
} as const satisfies Record<string, RouteSchema>
