import * as z from 'zod'
import { blankErrors, type PayloadKind, unlistedErrors } from './codec.ts'

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
    ...blankErrors('entity_id', entity_id),
    ...unlistedErrors('tier', tier, RETRIEVAL_TIERS),
    ...blankErrors('source', source),
  ],
}

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
    ...blankErrors('entity_id', entity_id),
    ...unlistedErrors('tier', tier, RETRIEVAL_TIERS),
    ...blankErrors('source', source),
  ],
}

/** Retrieval tiers: 0 structural, 1 lexical, 2 reserved for neural rerankers (accepted, not emitted). */
export const RETRIEVAL_TIERS = ['0', '1', '2'] as const

/** Classifier tiers, another vocabulary: 0 keywords, 1 lexical or embedding, 3 a model. */
export const CLASSIFIER_TIERS = ['0', '1', '3'] as const

/** The sources Sluice writes; reading accepts any that is not blank. */
export type RetrievalSource =
  | 'classifier_chain'
  | 'search_graph'
  | 'classifier'
  | 'predicate_walk'
  | 'bm25_index'
  | 'entity_state'
  | 'temporal_range'
  | 'spatial'
  | 'embedding'
  | 'graph_diffusion'
