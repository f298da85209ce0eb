import type { Json } from '../canonical.ts'
import { encodePayload } from './encode-payload.ts'
import type { Evidence } from './evidence.ts'
import { type SearchResult, SearchResultSchema } from './search-result.ts'

/** Characters of all sources of one block: grounding gates read no more than twice as much. */
const MOST_CHARACTERS = 1_048_576

/**
 * What a research block publishes, by the names of its ports (shared/dag/research-outputs.ts). `texts`: what each item
 * of evidence was read as when the answer was held against it; without, its snippet.
 */
export function resultValues(result: SearchResult, texts: readonly string[] = []): Readonly<Record<string, Json>> {
  // A payload is JSON by its schema.
  const encoded = encodePayload(SearchResultSchema, result) as Readonly<Record<string, Json>>
  const { decomp_trace } = encoded
  return {
    result: encoded,
    synthesis: result.synthesis,
    evidence: encoded.evidence ?? [],
    sources: sourcesOf(result.evidence ?? [], texts),
    ...(decomp_trace === undefined ? {} : { decomp_trace }),
    tokens_used: result.tokens_used ?? 0,
    iterations: result.iterations ?? 0,
  }
}

/** In rank order, as long as there is room: an item is known by its place, so it stays without a text. */
function sourcesOf(evidence: readonly Evidence[], texts: readonly string[]): readonly Json[] {
  let room = MOST_CHARACTERS
  return evidence.map(({ entity_id, objectstore_ref, snippet_text = '' }, at) => {
    const text = (texts[at] ?? snippet_text).slice(0, room).toWellFormed()
    room -= text.length
    return { entity_id, ...(objectstore_ref === undefined ? {} : { objectstore_ref }), text }
  })
}
