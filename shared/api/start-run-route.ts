import * as z from 'zod'
import type { Json } from '../text/json.ts'
import { queryInt, type RouteSchema, RunParamsSchema } from './route-schema.ts'
import { DocumentSchema, MADE_RUN, PrioritySchema, RUN_VALUES } from './route-schema-parts.ts'

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'the file name of a document without .yaml: letters, digits, . _ -')
const StartRunBodySchema = z
  .strictObject({
    example: name.optional().describe('A document shipped with the package'),
    name: name
      .optional()
      .describe('A document deployed in this place; beside `dag` what it is called if it has no name itself'),
    dag: DocumentSchema,
    ...RUN_VALUES,
    goal_contract: z
      .custom<Json>(() => true)
      .optional()
      .describe('What the run is to reach, in place of the contract of its document: an object, or YAML text'),
    priority: PrioritySchema,
    continues: RunParamsSchema.shape.run_id
      .optional()
      .describe('A run that has ended: this one sees its context, under its own values, and its artifacts'),
  })
  .refine(({ example, name, dag }) => {
    const sources = dag === undefined ? [example, name] : [example, dag]
    return sources.filter((given) => given !== undefined).length === 1
  }, 'give exactly one of example, name, dag (only dag may have a name beside it)')

/** The body of POST /api/dag/run, parsed. Sizes and meaning are checked where the run begins. */
export type StartRunBody = z.output<typeof StartRunBodySchema>

/** The function that starts runs has 29 s, as API Gateway does. */
const MOST_WAIT_SEC = 20

export const START_RUN = {
  summary: 'Start a run; with an Idempotency-Key the same body starts it once',
  query: z.strictObject({
    wait: queryInt(0, MOST_WAIT_SEC, 0).describe('Seconds to wait for the end of the run'),
  }),
  body: StartRunBodySchema,
  status: 201,
  answer: z.strictObject({
    ...MADE_RUN,
    queued: z.literal(true).optional().describe('It waits for a place among the active runs, or for its turn'),
    state: z
      .string()
      .optional()
      .describe('With `wait`: that of the run when it had ended, or nobody waited any longer'),
    outputs: z
      .record(z.string(), z.record(z.string(), z.json()))
      .optional()
      .describe(
        'With `wait`, of a run that has ended: what its last blocks published; values above 64 KiB are left out',
      ),
    links: z.record(z.string(), z.string()),
  }),
} as const satisfies RouteSchema
