import * as z from 'zod'
import { LIMITS } from '../limits.ts'
import { StoredValueSchema } from '../runs/event.ts'
import { StepLogSchema } from '../steps/step-order.ts'
import type { Json } from '../text/json.ts'
import { queryInt, type RouteSchema, RunParamsSchema } from './route-schema.ts'
import { UnpricedSchema } from './route-schema-parts.ts'
import { BlockParamsSchema, GET_TRANSCRIPT } from './transcript-route.ts'

const text = z.string()
const count = z.int().min(0)
const json = z.custom<Json>(() => true)
/** null = no price is known. */
const usd = z.number().nullable()
const error = z.strictObject({ code: text, reason: text })

const CallSchema = z.strictObject({
  gate: text.optional().describe('The gate whose judge was asked; absent: the block itself'),
  provider: text,
  model: text.describe('As the provider named it'),
  system: text.optional(),
  prompt: text.optional().describe('Absent in runs recorded before prompts were kept'),
  prompt_hash: text.describe('sha256 of the whole prompt'),
  answer: text,
  cut: z.literal(true).optional().describe('A text above is only the beginning'),
  tokens_in: count,
  tokens_out: count,
  usd,
  finish_reason: text,
  note: text.optional(),
})
export type BlockCallAnswer = z.output<typeof CallSchema>

const AttemptSchema = z.strictObject({
  epoch: count,
  attempt: count,
  item: count.optional(),
  state: z.enum(['running', 'completed', 'failed', 'cancelled']),
  started_at: text,
  ended_at: text.optional(),
  inputs: z.record(text, json).optional().describe('Resolved again from what is recorded; absent where they cannot be'),
  input_refs: z
    .record(text, StoredValueSchema.partial({ ref: true }))
    .optional()
    .describe('Inputs above 64 KiB: hash and size, and where the value is stored if a block published it as it is'),
  inputs_verified: z
    .boolean()
    .describe('Whether they have the hash recorded at its start; false beside inputs: those it would be given now'),
  inputs_hash: text.optional(),
  context_version: count.optional(),
  item_count: count.optional().describe('foreach: how many items began with it'),
  first_turn: count.optional().describe('Of an agent that acts: its first turn, from 0'),
  child: text.optional().describe('The child run that did its work'),
  calls: z
    .array(CallSchema)
    .readonly()
    .describe('Of providers, in the order of their recording: the block, its judges'),
  calls_cut: z.boolean().describe('Some are left out: there are too many, or what was recorded is gone'),
  provider: text.optional(),
  model: text.optional(),
  tokens_in: count,
  tokens_out: count,
  usd,
  unpriced_tokens: UnpricedSchema,
  latency_ms: z.number().optional(),
  finish_reason: text.optional(),
  note: text.optional(),
  passed_over: z
    .array(z.strictObject({ provider: text, model: text, code: text }))
    .readonly()
    .optional()
    .describe('Candidates before the one that answered, and the code of why they did not'),
  outputs: z.record(text, StoredValueSchema).readonly(),
  gates: z
    .array(z.looseObject({ gate: text, type: text, phase: z.enum(['pre', 'post']), status: text, reason: text }))
    .readonly(),
  error: error.optional(),
  cached_from: text.optional().describe('The run whose result stands in for a dispatch'),
  log: StepLogSchema.optional().describe('What its step wrote: the last lines, and the object that holds all'),
  approvals: z.array(text).readonly().optional().describe('Ids of what people were asked; GET run has them'),
})
export type BlockAttempt = z.output<typeof AttemptSchema>

/** Of the last turn of an agent the last call. */
const MOST_ITEM = LIMITS.agent_turns * 100

export const GET_BLOCK = {
  summary: 'One block of a run: its definition and its attempts, with inputs, prompts, answers, gates and cost',
  params: BlockParamsSchema,
  query: z.strictObject({
    item: queryInt(0, MOST_ITEM, 0)
      .unwrap()
      .optional()
      .describe('Of a foreach block: the attempts of this item; of an agent, of this turn (300) or call (302)'),
  }),
  answer: z.strictObject({
    run_id: text,
    block_id: text,
    item: count.optional(),
    state: text,
    epoch: count,
    attempt: count,
    definition: z.looseObject({ id: text, mode: text }).describe('The block as in the document of the run'),
    attempts: z.array(AttemptSchema).readonly().describe('Newest last, at most 50'),
    attempts_cut: z.boolean().describe('There were earlier ones'),
  }),
} as const satisfies RouteSchema

const key = text.regex(/^[^_\s]\S{0,199}$/, '1 to 200 characters without spaces; a leading _ is reserved')

const context = z.strictObject({ version: count, values: z.record(text, json) })

const ArtifactSchema = z.strictObject({
  name: text,
  ref: text,
  sha256: text,
  bytes: count,
  media_type: text,
  block_id: text,
  attempt: count,
  from_run: text.optional().describe('The earlier run that wrote it, of a run that continues one'),
  tainted: z.literal(true).optional().describe('A tool of an agent wrote it that had read what others wrote'),
  href: text,
})

/** Routes of what a run holds besides its events: attempts, outputs, shared context and artifacts. */
export const RUN_DATA_ROUTES = {
  'get-block': GET_BLOCK,
  'get-transcript': GET_TRANSCRIPT,
  'get-outputs': {
    summary: 'Values of the outputs a block has published',
    params: BlockParamsSchema,
    answer: z.strictObject({
      run_id: text,
      block_id: text,
      attempt: count,
      state: text,
      outputs: z.record(text, json).describe('Value by port'),
      refs: z.record(text, StoredValueSchema).describe('Ports whose value is above 256 KiB: where it is stored'),
    }),
  },
  'get-context': {
    summary: 'The shared context of a run, with the version a change must name',
    params: RunParamsSchema,
    answer: context,
  },
  'patch-context': {
    summary: 'Set keys of the shared context, if it still has the version the caller read',
    params: RunParamsSchema,
    body: z.strictObject({
      set: z
        .record(key, json)
        .refine((set) => Object.keys(set).length > 0, 'at least one key')
        .refine((set) => Object.keys(set).length <= 20, 'at most 20 keys at once'),
      if_version: count,
    }),
    answer: context,
  },
  'list-artifacts': {
    summary: 'Artifacts the run has written',
    params: RunParamsSchema,
    answer: z.strictObject({ artifacts: z.array(ArtifactSchema) }),
  },
  'get-artifact': {
    summary: 'The body of one artifact',
    params: RunParamsSchema.extend({ name: text.min(1).max(200) }),
    answer: text,
    media_type: '*/*',
  },
} as const satisfies Record<string, RouteSchema>
