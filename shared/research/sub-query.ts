import type { RetrievalSource } from './retrieval.ts'

/** One retrieval of execute_subqueries. Its `kind` is what ran in the trace; limits are hits. */
export type SubQuery =
  | { readonly kind: 'lexical'; readonly text: string; readonly limit: number }
  | { readonly kind: 'entity_state'; readonly entity_id: string }
  | {
      readonly kind: 'temporal_range'
      readonly from: string
      readonly to: string
      readonly text: string
      readonly limit: number
    }
  | { readonly kind: 'predicate_walk'; readonly entity_id: string; readonly depth: number; readonly limit: number }
  | {
      readonly kind: 'spatial'
      readonly north: number
      readonly south: number
      readonly east: number
      readonly west: number
      readonly limit: number
    }
  | {
      readonly kind: 'relation_walk'
      readonly seeds: readonly string[]
      /** What is asked: the relations it names are followed. */
      readonly text: string
      readonly limit: number
    }
  | {
      readonly kind: 'graph_diffusion'
      readonly seeds: readonly string[]
      /** What is asked: edges it names draw the walker. */
      readonly text: string
      readonly limit: number
    }

/** The tier and source its hits carry; embeddings, where a provider has them, add their own list to `lexical`. */
export const ORIGINS: Readonly<
  Record<SubQuery['kind'], { readonly tier: '0' | '1'; readonly source: RetrievalSource }>
> = {
  lexical: { tier: '1', source: 'bm25_index' },
  entity_state: { tier: '0', source: 'entity_state' },
  temporal_range: { tier: '0', source: 'temporal_range' },
  predicate_walk: { tier: '0', source: 'predicate_walk' },
  spatial: { tier: '0', source: 'spatial' },
  relation_walk: { tier: '0', source: 'predicate_walk' },
  graph_diffusion: { tier: '1', source: 'graph_diffusion' },
}

/** Sub-queries that run at once. */
export const PARALLEL_SUB_QUERIES = 8

/** Each kind once with the same content, in the order they came: two axes may ask the same. */
export function distinctQueries(queries: readonly SubQuery[]): readonly SubQuery[] {
  return [...new Map(queries.map((query) => [JSON.stringify(query), query])).values()]
}
