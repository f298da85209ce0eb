import * as z from 'zod'
import { LIMITS } from '../limits.ts'
import { StoredValueSchema } from '../runs/event.ts'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'
import { DocumentSchema, MADE_RUN, PrioritySchema, RUN_VALUES, UnpricedSchema } from './route-schema-parts.ts'

const text = z.string()

export const RetryRunBodySchema = z.strictObject({
  from_block: text
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'a block id is a letter, then letters, digits, _ or -')
    .optional()
    .describe('This block and all that depend on it begin again; without it, what did not complete does'),
  keep_turns: z
    .int()
    .min(1)
    .max(LIMITS.agent_turns)
    .optional()
    .describe(
      'Of from_block, whose agent calls tools: it goes on after this turn of the earlier run, with all it said and saw',
    ),
  say: text.min(1).max(10_000).optional().describe('What the agent is told where it goes on; with keep_turns'),
  priority: PrioritySchema,
  dag: DocumentSchema.describe('An edited document; without it, the one the earlier run was pinned to'),
  ...RUN_VALUES,
})

/** The body of POST .../retry, parsed. What is not given is as in the earlier run. */
export type RetryRunBody = z.output<typeof RetryRunBodySchema>

const count = z.int().min(0)

const usd = z.number().nullable().describe('null = no price is known')

const duration_ms = z.number().nullable().describe('null = it has not begun, or not ended')

const compared = z.enum(['same', 'different', 'only_a', 'only_b'])

const RunSideSchema = z.strictObject({
  run_id: text,
  dag_name: text,
  dag_hash: text,
  state: text,
  reason: text.optional(),
  blocks: count,
  attempts: count,
  tokens: count,
  usd,
  unpriced_tokens: UnpricedSchema,
  duration_ms,
})

const BlockSideSchema = z.strictObject({
  state: text,
  attempt: count,
  epoch: count,
  tokens: count,
  usd,
  unpriced_tokens: UnpricedSchema,
  duration_ms,
  outputs: z.record(text, StoredValueSchema).readonly(),
  error: z.strictObject({ code: text, reason: text }).optional(),
  cached_from: text.optional().describe('The run whose result stands in for a dispatch'),
})

/** Routes between runs of one lineage. */
export const LINEAGE_ROUTES = {
  'retry-run': {
    summary: 'Start a linked run that takes over the results of an ended one where definition and inputs are the same',
    params: RunParamsSchema,
    body: RetryRunBodySchema,
    status: 201,
    answer: z.strictObject({
      ...MADE_RUN,
      retry_of: text,
      reused_expected: z.array(text).describe('Blocks whose results it will most likely take over'),
      links: z.record(text, text),
    }),
  },
  'diff-runs': {
    summary: 'Two runs side by side: states, outputs, gates, cost and duration by block, and what differs in them',
    params: RunParamsSchema.extend({ other_id: RunParamsSchema.shape.run_id }),
    answer: z.strictObject({
      a: RunSideSchema,
      b: RunSideSchema,
      only_in: z.strictObject({ a: z.array(text).readonly(), b: z.array(text).readonly() }),
      changed: z.array(text).readonly().describe('Blocks of both whose definition is not the same'),
      context: z.record(text, compared).readonly().describe('Keys of the shared context whose values are not the same'),
      blocks: z
        .array(
          z.strictObject({
            block_id: text,
            definition: compared,
            a: BlockSideSchema.optional(),
            b: BlockSideSchema.optional(),
            outputs: z.record(text, compared).readonly().describe('By port, told by the sha256 of the values'),
            gates: z.array(z.strictObject({ gate: text, a: text.optional(), b: text.optional() })).readonly(),
          }),
        )
        .readonly(),
    }),
  },
} as const satisfies Record<string, RouteSchema>
