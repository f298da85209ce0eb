import * as z from 'zod'
import { StageTraceSchema } from '../research/chain-state.ts'
import { RETRIEVAL_TIERS } from '../research/payloads/candidate-and-evidence.ts'
import { ASKED_LIMITS, AskedIntentSchema, QuestionSchema } from '../research/payloads/intent.ts'
import { SearchResultSchema } from '../research/payloads/result.ts'
import { RouteDecisionSchema } from '../research/payloads/route-decision.ts'
import { AssessmentOutputSchema } from '../research/payloads/stage-outputs.ts'
import { STAGES } from '../research/stages.ts'
import { RUN_STATES } from '../runs/head.ts'
import { queryInt, type RouteSchema, RunParamsSchema } from './route-schema.ts'

const text = z.string()
const count = z.int().min(0)
const links = z.record(text, text)

const StartBodySchema = QuestionSchema.extend({
  parent_loop: text
    .max(ASKED_LIMITS.parent_loop_characters)
    .regex(/\S/, 'must not be blank')
    .nullish()
    .describe('Who asks: an entity id or any name; told once when the answer is there (research:continued)'),
  embeddings_weight: z
    .number()
    .min(0)
    .max(1)
    .nullish()
    .describe('What the ranking by embeddings counts for this question; 0: nothing is embedded; absent: as is set'),
})

/** Longer waits would meet the 29 seconds an API has. */
const MOST_WAIT_SEC = 25

/** Steps of one chain: 50 rounds of two stages, and those around them. */
const TraceSchema = StageTraceSchema.extend({
  out_ref: text.describe('The object with the state of the chain after it'),
  decision: RouteDecisionSchema.optional().describe('Of route_search: with its args and its rationale'),
  assessment: AssessmentOutputSchema.optional().describe('Of assess_sufficiency'),
})
export type ResearchTrace = z.output<typeof TraceSchema>

const AnswerSchema = z.strictObject({
  run_id: text,
  state: z.enum(RUN_STATES),
  code: text.optional(),
  reason: text.optional().describe('Why it ended, in words'),
  ...AskedIntentSchema.shape,
  result: SearchResultSchema.optional().describe('Absent where the run was ended before there was any'),
  places: z
    .array(z.int().min(1))
    .readonly()
    .optional()
    .describe('Of a filtered answer: the places `[n]` of the items shown in the whole evidence'),
  degraded: z.array(text).readonly().describe('Why the answer is less than it could be, in words'),
  trace: z.array(TraceSchema).readonly(),
  tokens: count,
  usd: z.number().nullable().describe('null = no price is known'),
  unpriced_tokens: count.optional().describe('Tokens whose price nobody knows: usd is without them'),
  started_at: text.optional(),
  ended_at: text.optional(),
  links,
})
export type ResearchAnswer = z.output<typeof AnswerSchema>

/** Questions to the knowledge graph. */
export const RESEARCH_ROUTES = {
  'start-research': {
    summary: 'Ask the knowledge graph: starts a research run; with an Idempotency-Key the same question starts it once',
    body: StartBodySchema,
    status: 201,
    answer: z.strictObject({
      run_id: text,
      loop: text.describe('The entity of the chain in the graph'),
      queued: z.literal(true).optional().describe('It waits for a place among the active runs'),
      links,
    }),
  },
  'get-research': {
    summary: 'The answer of a research run, with its evidence and what each stage did',
    params: RunParamsSchema,
    query: z.strictObject({
      wait: queryInt(0, MOST_WAIT_SEC, 0).describe('Seconds to wait for the end'),
      tier: z.enum(RETRIEVAL_TIERS).optional().describe('Only evidence of this tier'),
      source: text.min(1).max(100).optional().describe('Only evidence of this source'),
    }),
    answer: AnswerSchema,
    also: {
      status: 202,
      description: 'It is not answered yet',
      answer: z.strictObject({
        run_id: text,
        state: z.enum(['running', 'pending']).describe('`pending`: it waits for a place among the active runs'),
        stage: z.enum(STAGES).describe('The stage under way, or next'),
        links,
      }),
    },
  },
} as const satisfies Record<string, RouteSchema>
