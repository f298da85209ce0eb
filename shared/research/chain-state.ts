import * as z from 'zod'
import { type Candidate, type Evidence, EvidenceSchema } from './payloads/candidate-and-evidence.ts'
import { type AskedIntent, AskedIntentSchema } from './payloads/intent.ts'
import { type DecompTrace, SearchResultSchema } from './payloads/result.ts'
import { ROUTE_ACTIONS, type RouteAction, RouteDecisionSchema } from './payloads/route-decision.ts'
import {
  AssessmentOutputSchema,
  type ClassifierOutput,
  ClassifierOutputSchema,
  ExecutionOutputSchema,
} from './payloads/stage-outputs.ts'
import type { Classification } from './question/classification.ts'
import { STAGES } from './stages.ts'
import type { SubQuery } from './sub-queries.ts'

const TEXT = z.string()
const HITS_LIMIT = z.int()

/** A sub-query as the state of a chain keeps it. */
const SubQuerySchema: z.ZodType<SubQuery> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('lexical'), text: TEXT, limit: HITS_LIMIT }),
  // A chain that was under way before ranks were kept has none.
  z.object({ kind: z.literal('entity_state'), entity_id: TEXT, rank: z.int().min(1).default(1) }),
  z.object({ kind: z.literal('temporal_range'), from: TEXT, to: TEXT, text: TEXT, limit: HITS_LIMIT }),
  z.object({ kind: z.literal('predicate_walk'), entity_id: TEXT, depth: z.int(), limit: HITS_LIMIT }),
  z.object({
    kind: z.literal('spatial'),
    north: z.number(),
    south: z.number(),
    east: z.number(),
    west: z.number(),
    limit: HITS_LIMIT,
  }),
  z.object({ kind: z.literal('relation_walk'), seeds: z.array(TEXT), text: TEXT, limit: HITS_LIMIT }),
  z.object({ kind: z.literal('graph_diffusion'), seeds: z.array(TEXT), text: TEXT, limit: HITS_LIMIT }),
])

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
  /** Its calls' answers as they came (shared/providers/recording.ts). */
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
  hits: z.array(
    z.object({ evidence: EvidenceSchema, list: count, round: count.optional(), recorded_at: text.optional() }),
  ),
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
export function initialChainState(asked: AskedIntent): ChainState {
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

interface Classified {
  readonly topic: string
  readonly classification: Classification
  /** Merged: the caller's and the topic's. */
  readonly hints: Readonly<Record<string, unknown>>
  readonly candidates: readonly Candidate[]
  /** Why the candidates are less than they could be; empty = they are not. */
  readonly degraded_reasons: readonly string[]
}

/** What nl_classify emits: always a tier, a confidence of 0 to 1, and a reason exactly where it is degraded. */
export function toClassifierOutput(classified: Classified): ClassifierOutput {
  const { topic, classification, hints, candidates } = classified
  const reasons = classified.degraded_reasons.map((reason) => reason.trim()).filter((reason) => reason !== '')
  return {
    topic,
    tier: classification.tier,
    intent: classification.intent,
    confidence: Math.min(1, Math.max(0, classification.confidence)),
    hints: { ...hints },
    candidates: [...candidates],
    ...(reasons.length === 0 ? {} : { degraded: true, degraded_reason: reasons.join('; ') }),
  }
}

/** What synthesize_directly answers from: the candidates themselves, in their order. */
export function candidatesAsEvidence(candidates: readonly Candidate[]): readonly Evidence[] {
  return candidates.map(({ entity_id, tier, source, relevance, snippet_text }) => ({
    entity_id,
    tier,
    source,
    ...(relevance === undefined ? {} : { score: relevance }),
    ...(snippet_text === undefined ? {} : { snippet_text }),
  }))
}

/** What a chain did, as its stages recorded it. */
interface ChainSteps {
  /** The router's first decision; absent where no router ran. */
  readonly first_action?: RouteAction
  /** Those that really ran, of all rounds. */
  readonly sub_queries: readonly SubQuery[]
  readonly seed_entities: readonly string[]
  readonly retighten_rounds: number
}

/** The trace of a result; none where synthesize_directly was the first and only step. */
export function toDecompTrace(steps: ChainSteps): DecompTrace | undefined {
  const { first_action, sub_queries, seed_entities, retighten_rounds } = steps
  if (first_action === 'synthesize_directly') return undefined
  return {
    ...(first_action === undefined ? {} : { router_action: first_action }),
    sub_queries: sub_queries.map((query) => ({ ...query })),
    seed_entities: [...seed_entities],
    retighten_rounds,
  }
}
