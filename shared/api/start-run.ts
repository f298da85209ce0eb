import * as z from 'zod'
import type { Json } from '../canonical.ts'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'the file name of a document without .yaml: letters, digits, . _ -')
const key = z.string().regex(/^[^_\s]\S{0,199}$/, '1 to 200 characters without spaces; a leading _ is reserved')
const json = z.custom<Json>(() => true)
const values = z.record(key, json)

const StartRunBodySchema = z
  .strictObject({
    example: name.optional().describe('A document shipped with the package'),
    name: name
      .optional()
      .describe('A document deployed in this place; beside `dag` what it is called if it has no name itself'),
    dag: z
      .union([z.string().min(1), z.record(z.string(), json)], 'a YAML text or an object')
      .optional()
      .describe('The document itself: YAML text, or the same as an object'),
    inputs: values.optional().describe('Values of the run inputs the document declares'),
    context: values.optional().describe('Free values; run inputs of the same name win'),
    continues: RunParamsSchema.shape.run_id
      .optional()
      .describe('A run that has ended: this one sees its context, under its own values, and its artifacts'),
    overrides: z
      .record(z.string().regex(/^[A-Za-z][\w-]*\.[A-Za-z][\w-]*$/, 'block.port'), json)
      .optional()
      .describe('"block.port": the value of one input port, before anything else'),
    options: z
      .strictObject({
        max_parallel: z.int().min(0).max(1_000).optional().describe('Blocks at once; 0 = no limit'),
        fail_fast: z.boolean().optional(),
        deadline_sec: z.int().min(1).max(31_536_000).optional(),
      })
      .optional(),
  })
  .refine(({ example, name, dag }) => {
    const sources = dag === undefined ? [example, name] : [example, dag]
    return sources.filter((given) => given !== undefined).length === 1
  }, 'give exactly one of example, name, dag (only dag may have a name beside it)')

/** The body of POST /api/dag/run, parsed. Sizes and meaning are checked where the run begins. */
export type StartRunBody = z.output<typeof StartRunBodySchema>

export const START_RUN = {
  summary: 'Start a run; with an Idempotency-Key the same body starts it once',
  body: StartRunBodySchema,
  status: 201,
  answer: z.strictObject({
    run_id: z.string(),
    dag_name: z.string(),
    dag_hash: z.string(),
    blocks: z.int(),
    edges: z.int(),
    links: z.record(z.string(), z.string()),
  }),
} as const satisfies RouteSchema
