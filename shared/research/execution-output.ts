import * as z from 'zod'
import type { PayloadKind } from './decode-payload.ts'
import { EvidenceSchema, evidenceKind } from './evidence.ts'
import { itemErrors } from './item-errors.ts'
import { payloadError } from './payload-error.ts'
import { refuseBlank, refuseRange } from './payload-rules.ts'
import { ROUTE_ACTIONS } from './route-action.ts'

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

export type ExecutionOutput = z.infer<typeof ExecutionOutputSchema>

export const executionOutputKind: PayloadKind<ExecutionOutput> = {
  schema: ExecutionOutputSchema,
  validate: ({ topic, action, evidence, subquery_count, degraded, budget_tokens_used }) => [
    ...refuseBlank('topic', topic),
    ...(action || degraded ? [] : [payloadError('field_required', 'action', 'is required unless degraded')]),
    ...itemErrors('evidence', evidenceKind, evidence),
    ...refuseRange('subquery_count', subquery_count),
    ...refuseRange('budget_tokens_used', budget_tokens_used),
  ],
}
