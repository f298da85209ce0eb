import type { Aggregation } from './question-words.ts'
import { type Hints, readSearchHints } from './search-hints.ts'

/** What the graph and the index are asked for a topic: data only, the same for the same topic and hints. */
export interface SearchDescription {
  readonly text: string
  /** Entity type, the fifth segment of the id or the entity's own. */
  readonly type?: string
  /** Third segment of the id. */
  readonly domain?: string
  readonly zone?: string
  readonly time_range?: { readonly from: string; readonly to: string }
  readonly geo_bounds?: { readonly north: number; readonly south: number; readonly east: number; readonly west: number }
  readonly path?: { readonly start?: string }
  readonly similarity?: true
  readonly aggregation?: Aggregation
  readonly limit: number
}

/** Candidates where no top N was asked for. */
const DEFAULT_LIMIT = 20

/**
 * The search of a ClassifierOutput: from its topic and hints alone, without a clock and without reading the topic's
 * words again, so that it can be run again later and ask the same.
 */
export function describeSearch(topic: string, hints: Hints): SearchDescription {
  const { time_range, geo_bounds, zone, path_intent, path_start_node, ...rest } = readSearchHints(hints)
  return {
    text: topic,
    ...(rest.entity_kind === undefined ? {} : { type: rest.entity_kind.trim().toLowerCase() }),
    ...(rest.domain === undefined ? {} : { domain: rest.domain.trim() }),
    ...(zone === undefined ? {} : { zone }),
    ...(time_range === undefined ? {} : { time_range }),
    ...(geo_bounds === undefined ? {} : { geo_bounds }),
    ...(path_intent === undefined ? {} : { path: path_start_node === undefined ? {} : { start: path_start_node } }),
    ...(rest.similarity === undefined ? {} : { similarity: rest.similarity }),
    ...(rest.aggregation_type === undefined ? {} : { aggregation: rest.aggregation_type }),
    // Fewer than these would hide the runners-up from the router.
    limit: Math.max(DEFAULT_LIMIT, rest.top_n ?? 0),
  }
}
