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
