import * as z from 'zod'
import {
  CandidateSchema,
  CLASSIFIER_TIERS,
  candidateKind,
  EvidenceSchema,
  evidenceKind,
} from './candidate-and-evidence.ts'
import { blankErrors, itemErrors, type PayloadKind, payloadError, rangeErrors, unlistedErrors } from './codec.ts'
import { ROUTE_ACTIONS } from './route-decision.ts'

/** What nl_classify emits: hints and the first candidates (docs/research.md, "ClassifierOutput"). */
export const ClassifierOutputSchema = z.object({
  topic: z.string(),
  /** The classifier's tier, not a retrieval tier; "0" when none matched. */
  tier: z.string().optional(),
  intent: z.string().optional(),
  confidence: z.number().optional(),
  hints: z.record(z.string(), z.unknown()).optional(),
  candidates: z.array(CandidateSchema).optional(),
  degraded: z.boolean().optional(),
  degraded_reason: z.string().optional(),
})

export type ClassifierOutput = z.infer<typeof ClassifierOutputSchema>

export const classifierOutputKind: PayloadKind<ClassifierOutput> = {
  schema: ClassifierOutputSchema,
  validate: ({ topic, tier, confidence, candidates }) => [
    ...blankErrors('topic', topic),
    ...unlistedErrors('tier', tier || '0', CLASSIFIER_TIERS),
    ...rangeErrors('confidence', confidence, { most: 1 }),
    ...itemErrors('candidates', candidateKind, candidates),
  ],
}

/** What execute_subqueries emits (docs/research.md, "ExecutionOutput"). */
export const ExecutionOutputSchema = z.object({
  topic: z.string(),
  /** The route that led here; may be absent (or empty) only in a degraded output. */
  action: z.enum(['', ...ROUTE_ACTIONS]).optional(),
  evidence: z.array(EvidenceSchema).optional(),
  subquery_count: z.int().optional(),
  degraded: z.boolean().optional(),
  degraded_reason: z.string().optional(),
  /** Estimated tokens of the evidence that was kept. */
  budget_tokens_used: z.int().optional(),
})

type ExecutionOutput = z.infer<typeof ExecutionOutputSchema>

export const executionOutputKind: PayloadKind<ExecutionOutput> = {
  schema: ExecutionOutputSchema,
  validate: ({ topic, action, evidence, subquery_count, degraded, budget_tokens_used }) => [
    ...blankErrors('topic', topic),
    ...(action || degraded ? [] : [payloadError('field_required', 'action', 'is required unless degraded')]),
    ...itemErrors('evidence', evidenceKind, evidence),
    ...rangeErrors('subquery_count', subquery_count),
    ...rangeErrors('budget_tokens_used', budget_tokens_used),
  ],
}

/** What assess_sufficiency emits (docs/research.md, "AssessmentOutput"). */
export const AssessmentOutputSchema = z.object({
  topic: z.string(),
  /** The only field conditions look at. */
  sufficient: z.boolean(),
  /** What the next execute_subqueries runs. */
  refined_queries: z.array(z.string()).optional(),
  /** Prose; no rule or condition looks at it. */
  rationale: z.string().optional(),
  confidence: z.number().optional(),
  evidence_count: z.int().optional(),
  degraded: z.boolean().optional(),
  degraded_reason: z.string().optional(),
})

export type AssessmentOutput = z.infer<typeof AssessmentOutputSchema>

export const assessmentOutputKind: PayloadKind<AssessmentOutput> = {
  schema: AssessmentOutputSchema,
  validate: ({ topic, refined_queries, confidence, evidence_count }) => [
    ...blankErrors('topic', topic),
    ...(refined_queries ?? []).flatMap((query, index) => blankErrors(`refined_queries[${index}]`, query)),
    ...rangeErrors('confidence', confidence, { most: 1 }),
    ...rangeErrors('evidence_count', evidence_count),
  ],
}

/** What stands for an assessment nobody could make: not sufficient, and the topic is searched again. */
export function assessByDefault(topic: string, evidence_count: number, degraded_reason: string): AssessmentOutput {
  return { topic, sufficient: false, refined_queries: [topic], evidence_count, degraded: true, degraded_reason }
}
