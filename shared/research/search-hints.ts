import * as z from 'zod'
import { AGGREGATIONS } from './question-words.ts'

const degrees = (most: number) => z.number().min(-most).max(most)
const instant = z.iso.datetime({ offset: true })

/** The hint keys a search acts on; every other key is passed through and changes nothing. */
const KEYS = {
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

export type SearchHints = { readonly [K in keyof typeof KEYS]?: z.infer<(typeof KEYS)[K]> }

/** Hints as they stand in a ClassifierOutput: any JSON under any key. */
export type Hints = Readonly<Record<string, unknown>>

/** The hints a search acts on, each read alone: one that is not of its form is not acted on. */
export function readSearchHints(hints: Hints): SearchHints {
  const read = Object.entries(KEYS).flatMap(([key, schema]) => {
    const parsed = schema.safeParse(Object.hasOwn(hints, key) ? hints[key] : undefined)
    return parsed.success ? [[key, parsed.data]] : []
  })
  return Object.fromEntries(read) as SearchHints
}
