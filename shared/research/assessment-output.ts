import * as z from 'zod'
import type { PayloadKind } from './decode-payload.ts'
import { refuseBlank, refuseRange } from './payload-rules.ts'

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
    ...refuseBlank('topic', topic),
    ...(refined_queries ?? []).flatMap((query, index) => refuseBlank(`refined_queries[${index}]`, query)),
    ...refuseRange('confidence', confidence, { most: 1 }),
    ...refuseRange('evidence_count', evidence_count),
  ],
}
