import * as z from 'zod'
import { AGGREGATIONS, type Aggregation, readTimeRange } from './hint-patterns.ts'

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
const DEFAULT_CANDIDATES = 20

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
    limit: Math.max(DEFAULT_CANDIDATES, rest.top_n ?? 0),
  }
}

const degrees = (most: number) => z.number().min(-most).max(most)
const instant = z.iso.datetime({ offset: true })

/** The hint keys a search acts on; every other key is passed through and changes nothing. */
const HINT_KEYS = {
  time_range: z.object({ from: instant, to: instant }),
  geo_bounds: z.object({ north: degrees(90), south: degrees(90), east: degrees(180), west: degrees(180) }),
  zone: z.string().min(1),
  path_intent: z.literal(true),
  path_start_node: z.string().min(1),
  similarity: z.literal(true),
  aggregation_type: z.enum(AGGREGATIONS),
  top_n: z.int().min(1).max(1_000),
  entity_kind: z.string().min(1),
  domain: z.string().min(1),
} as const

export type SearchHints = { readonly [K in keyof typeof HINT_KEYS]?: z.infer<(typeof HINT_KEYS)[K]> }

/** Hints as they stand in a ClassifierOutput: any JSON under any key. */
export type Hints = Readonly<Record<string, unknown>>

/** The hints a search acts on, each read alone: one that is not of its form is not acted on. */
export function readSearchHints(hints: Hints): SearchHints {
  const read = Object.entries(HINT_KEYS).flatMap(([key, schema]) => {
    const parsed = schema.safeParse(Object.hasOwn(hints, key) ? hints[key] : undefined)
    return parsed.success ? [[key, parsed.data]] : []
  })
  return Object.fromEntries(read) as SearchHints
}

/**
 * The hints a search runs with: the caller's as they came, `recency` as a time range where the topic names none, and
 * over them what the topic's own words say.
 */
export function mergeHints(caller: Readonly<Record<string, string>>, topic: Hints, now: Date): Hints {
  const recency = caller.recency === undefined ? undefined : readTimeRange(caller.recency, now)
  return { ...caller, ...(recency === undefined ? {} : { time_range: recency }), ...topic }
}

/** A retighten's hints over the original ones; none leaves the originals. */
export function retightenedHints(
  original: Readonly<Record<string, string>> | undefined,
  refined: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  return { ...original, ...refined }
}

/** Whether an entity passes the filters of a search: its type (of its own, else its id's), and the id's domain. */
export function fitsSearch(
  { entity_id, type }: { readonly entity_id: string; readonly type?: string | undefined },
  search: Pick<SearchDescription, 'type' | 'domain'>,
): boolean {
  const [, , domain, , typeSegment] = entity_id.split('.')
  const isType = search.type === undefined || (type ?? typeSegment)?.toLowerCase() === search.type
  return isType && (search.domain === undefined || domain?.toLowerCase() === search.domain.toLowerCase())
}
