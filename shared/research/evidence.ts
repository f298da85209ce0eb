import * as z from 'zod'
import type { PayloadKind } from './decode-payload.ts'
import { refuseBlank, refuseOther } from './payload-rules.ts'
import { RETRIEVAL_TIERS } from './retrieval.ts'

/** One item an answer may cite (docs/research.md, "Evidence"). */
export const EvidenceSchema = z.object({
  entity_id: z.string(),
  tier: z.string(),
  source: z.string(),
  /** Higher is better, within its tier only. */
  score: z.number().optional(),
  snippet_text: z.string().optional(),
  /** Where the whole body is; absent when the triples say everything. */
  objectstore_ref: z.string().optional(),
})

export type Evidence = z.infer<typeof EvidenceSchema>

export const evidenceKind: PayloadKind<Evidence> = {
  schema: EvidenceSchema,
  validate: ({ entity_id, tier, source }) => [
    ...refuseBlank('entity_id', entity_id),
    ...refuseOther('tier', tier, RETRIEVAL_TIERS),
    ...refuseBlank('source', source),
  ],
}
