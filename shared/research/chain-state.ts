import * as z from 'zod'
import { type AskedIntent, AskedIntentSchema } from './asked-intent.ts'
import { AssessmentOutputSchema } from './assessment-output.ts'
import { ClassifierOutputSchema } from './classifier-output.ts'
import { EvidenceSchema } from './evidence.ts'
import { ExecutionOutputSchema } from './execution-output.ts'
import { ROUTE_ACTIONS } from './route-action.ts'
import { RouteDecisionSchema } from './route-decision.ts'
import { SearchResultSchema } from './search-result.ts'
import { STAGES } from './stage.ts'
import { SubQuerySchema } from './sub-query-schema.ts'

const text = z.string()
const count = z.int().min(0)

/** What one stage did: a row of the trace. */
export const StageTraceSchema = z.object({
  stage: z.enum(STAGES),
  /** Its step of the machine, from 0. */
  n: count,
  /** The object it began with: the state before, of the first stage what was asked. */
  in_ref: text,
  /** When it began, ISO. */
  at: text,
  duration_ms: z.number().min(0),
  /** Of its model calls, repeats included; a call that was lost counts with its estimate. */
  tokens: count,
  /** What it set aside for them before they were made. */
  reserved: count,
  /** Calls beyond the first: asked once more, or tried again. */
  retries: count,
  /** Its calls' answers as they came (shared/recording.ts). */
  raw_ref: text.optional(),
  action: text.optional(),
  /** Prose of a model; no rule or condition looks at it. */
  rationale: text.optional(),
  sufficient: z.boolean().optional(),
  /** Candidates or evidence after it. */
  found: count.optional(),
  /** Sentences of the answer the judge was shown, and how many of them it doubted. */
  judged: z.object({ sentences: count, doubted: count }).optional(),
  degraded_reason: text.optional(),
})

export type StageTrace = z.infer<typeof StageTraceSchema>

/** Where the chain is after a stage: everything the next one needs. `ref` of each research event names one. */
export const ChainStateSchema = z.object({
  ...AskedIntentSchema.shape,
  /** What is classified now: a retighten replaces it, never the intent's. */
  topic: text,
  /** The caller's, with a retighten's over them. */
  hints: z.record(text, text),
  classified: ClassifierOutputSchema.optional(),
  decision: RouteDecisionSchema.optional(),
  first_action: z.enum(ROUTE_ACTIONS).optional(),
  /** What execute_subqueries runs next; none = what the decision asks for. */
  queries: z.array(SubQuerySchema),
  /** Of all sub-queries that ran: the evidence is made of these. */
  hits: z.array(z.object({ evidence: EvidenceSchema, list: count, recorded_at: text.optional() })),
  /** Fused, ranked, trimmed. */
  evidence: z.array(EvidenceSchema),
  /** Of the last round; its evidence stands in `evidence`. */
  execution: ExecutionOutputSchema.omit({ evidence: true }).optional(),
  assessment: AssessmentOutputSchema.optional(),
  counters: z.object({ retighten_rounds: count, iterations: count }),
  /** Those that ran, in order; a hit's `list` is a place here. */
  sub_queries: z.array(SubQuerySchema),
  seed_entities: z.array(text),
  /** Why the answer is less than it could be, in the middle of a sentence; each once. */
  degraded: z.array(text),
  /** Why there will be no model's answer: a stage that failed, a spent budget, no time. */
  plain: z.boolean().optional(),
  stages: z.array(StageTraceSchema),
  next: z.enum([...STAGES, 'settle']),
  result: SearchResultSchema.optional(),
  /** What the answer was held against: JSON list of {id: place from 1, text}, so that others can judge it by the same. */
  sources_ref: text.optional(),
})

export type ChainState = z.infer<typeof ChainStateSchema>

/** A chain before its first stage. */
export function openChain(asked: AskedIntent): ChainState {
  const { topic, hints = {} } = asked.intent
  return {
    ...asked,
    topic,
    hints,
    queries: [],
    hits: [],
    evidence: [],
    counters: { retighten_rounds: 0, iterations: 0 },
    sub_queries: [],
    seed_entities: [],
    degraded: [],
    stages: [],
    next: 'nl_classify',
  }
}
