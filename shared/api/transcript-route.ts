import * as z from 'zod'
import { LIMITS } from '../limits.ts'
import { StoredValueSchema } from '../runs/event.ts'
import { ASKED_ABOUT } from '../runs/head.ts'
import { StepLogSchema } from '../steps/step-order.ts'
import type { Json } from '../text/json.ts'
import { queryInt, type RouteSchema, RunParamsSchema } from './route-schema.ts'
import { UnpricedSchema, VoteSchema } from './route-schema-parts.ts'

const text = z.string()
const count = z.int().min(0)
const left_out = z.int().min(1).optional()
const json = z.custom<Json>(() => true)

export const BlockParamsSchema = RunParamsSchema.extend({
  block_id: text.regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'a block id is a letter, then letters, digits, _ or -'),
})

const QuestionSchema = z.strictObject({
  approval_id: text,
  about: z.enum(ASKED_ABOUT),
  status: text,
  requested_at: text,
  expires_at: text,
  decided_by: text.optional(),
  decided_person: text.optional().describe('Who that is, where it is another name of theirs'),
  decided_at: text.optional(),
  via: text.optional(),
  waited_ms: z.number().optional(),
  feedback: text.optional().describe('What the decider said, at most 3,000 characters'),
  edits: json.optional().describe('Arguments as the decider changed them, or the fields of a form'),
  rest: z.literal(true).optional().describe('Nobody is asked before later calls of the tool'),
  stop: z.literal(true).optional().describe('The agent was to do nothing more'),
  votes: z.array(VoteSchema).readonly().optional(),
})
export type TranscriptQuestion = z.output<typeof QuestionSchema>

/** What a turn and a call have in common: they are items with attempts. */
const item = {
  item: count.describe('Its number among the items of the block, as events name it'),
  attempts: count,
  started_at: text.optional(),
  ended_at: text.optional(),
  latency_ms: z.number().optional().describe('Of the provider or the tool, without waiting for people'),
  tokens_in: count,
  tokens_out: count,
  usd: z.number().nullable().describe('null = no price is known'),
  unpriced_tokens: UnpricedSchema,
  error: z.strictObject({ code: text, reason: text }).optional(),
  approvals: z.array(QuestionSchema).readonly().optional(),
}

const CallSchema = z.strictObject({
  call: z.int().min(1).describe('In its turn, from 1'),
  ...item,
  tool: text.describe('As the model named it'),
  use: text.describe('As the document names it; of a tool it does not have, as the model did'),
  state: z
    .enum(['pending', 'running', 'retrying', 'paused_approval', 'completed', 'refused', 'failed', 'cancelled'])
    .describe('refused: by a gate, a bound or a person'),
  arguments: text.optional().describe('As the model wrote them'),
  arguments_cut: left_out.describe('Characters of them that are left out'),
  result: text.optional().describe('What came back: a text, or all outputs as JSON'),
  result_cut: left_out.describe('Characters of it that are left out'),
  outputs: z.record(text, StoredValueSchema).readonly().optional().describe('Where all of it is stored'),
  gates: z
    .array(z.strictObject({ gate: text, type: text, phase: z.enum(['pre', 'post']), status: text, reason: text }))
    .readonly(),
  child: text.optional().describe('The run that did its work'),
  log: StepLogSchema.optional().describe('What its step wrote'),
})
export type TranscriptCall = z.output<typeof CallSchema>

const TurnSchema = z.strictObject({
  turn: z.int().min(1).describe('From 1'),
  ...item,
  from_run: text.optional().describe('The earlier run it was kept of'),
  state: text,
  told: text.optional().describe("What the user's side said before it, after what its tools gave"),
  told_cut: left_out.describe('Characters of it that are left out'),
  text: text.optional().describe('What the model said; absent before it did, or where that is gone'),
  text_cut: left_out.describe('Characters of it that are left out'),
  tainted: z.boolean().optional().describe('Something others wrote was among what the model had seen'),
  provider: text.optional(),
  model: text.optional(),
  finish_reason: text.optional(),
  note: text.optional(),
  calls: z.array(CallSchema).readonly(),
})
export type TranscriptTurn = z.output<typeof TurnSchema>

/** Turns of one page. */
const MOST_TURNS = 50

export const GET_TRANSCRIPT = {
  summary: 'What an agent that acts said, called and was told, turn by turn; values as they were recorded',
  params: BlockParamsSchema,
  query: z.strictObject({
    turn: queryInt(1, LIMITS.agent_turns, 1).describe('The first turn of the page, from 1'),
    limit: queryInt(1, MOST_TURNS, 20).describe('Turns of the page at most; it also ends at some 900,000 characters'),
    epoch: queryInt(0, 999, 0).unwrap().optional().describe('Of an earlier pass; absent: of the newest'),
  }),
  answer: z.strictObject({
    run_id: text,
    block_id: text,
    state: text.describe('Of the block'),
    epoch: count,
    attempt: count,
    turns_total: count,
    turns: z.array(TurnSchema).readonly(),
    next_turn: z.int().optional().describe('Where the next page begins; absent: there is none'),
  }),
} as const satisfies RouteSchema
