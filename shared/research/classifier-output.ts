import * as z from 'zod'
import { CandidateSchema, candidateKind } from './candidate.ts'
import type { PayloadKind } from './decode-payload.ts'
import { itemErrors } from './item-errors.ts'
import { refuseBlank, refuseOther, refuseRange } from './payload-rules.ts'
import { CLASSIFIER_TIERS } from './retrieval.ts'

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
    ...refuseBlank('topic', topic),
    ...refuseOther('tier', tier || '0', CLASSIFIER_TIERS),
    ...refuseRange('confidence', confidence, { most: 1 }),
    ...itemErrors('candidates', candidateKind, candidates),
  ],
}
