import type { Json } from '../canonical.ts'
import { encodePayload } from './encode-payload.ts'
import { type SearchResult, SearchResultSchema } from './search-result.ts'

/** What a research block publishes, by the names of its ports (shared/dag/research-outputs.ts). */
export function resultValues(result: SearchResult): Readonly<Record<string, Json>> {
  // A payload is JSON by its schema.
  const encoded = encodePayload(SearchResultSchema, result) as Readonly<Record<string, Json>>
  const { decomp_trace } = encoded
  return {
    result: encoded,
    synthesis: result.synthesis,
    evidence: encoded.evidence ?? [],
    ...(decomp_trace === undefined ? {} : { decomp_trace }),
    tokens_used: result.tokens_used ?? 0,
    iterations: result.iterations ?? 0,
  }
}
