import * as z from 'zod'
import type { PayloadKind } from './decode-payload.ts'
import { refuseBlank, refuseOther } from './payload-rules.ts'
import { RETRIEVAL_TIERS } from './retrieval.ts'

/** One entity the classifier found for the topic (docs/research.md, "Candidate"). */
export const CandidateSchema = z.object({
  entity_id: z.string(),
  label: z.string().optional(),
  type: z.string().optional(),
  /** Higher is better, within its tier only. */
  relevance: z.number().optional(),
  snippet_text: z.string().optional(),
  tier: z.string(),
  source: z.string(),
})

export type Candidate = z.infer<typeof CandidateSchema>

export const candidateKind: PayloadKind<Candidate> = {
  schema: CandidateSchema,
  validate: ({ entity_id, tier, source }) => [
    ...refuseBlank('entity_id', entity_id),
    ...refuseOther('tier', tier, RETRIEVAL_TIERS),
    ...refuseBlank('source', source),
  ],
}
