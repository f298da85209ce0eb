import * as z from 'zod'
import type { Json } from '../../text/json.ts'
import { type Evidence, EvidenceSchema, evidenceKind } from './candidate-and-evidence.ts'
import { blankErrors, itemErrors, omitEmptyMembers, type PayloadKind, rangeErrors } from './codec.ts'

/** What the chain did to find the answer (docs/research.md, "SearchResult"). */
const DecompTraceSchema = z.object({
  /** The router's first decision. */
  router_action: z.string().optional(),
  /** Those that ran. */
  sub_queries: z.array(z.record(z.string(), z.unknown())).optional(),
  /** Resolved entity ids. */
  seed_entities: z.array(z.string()).optional(),
  retighten_rounds: z.int().optional(),
})

/** How one sentence of the synthesis stands to what it cites (claim-support.ts says what the words mean). */
const SaidSentenceSchema = z.object({
  sentence: z.string(),
  status: z.enum(['quoted', 'supported', 'unsupported']),
  /** Places of the evidence it cites, from 1. */
  places: z.array(z.int()).optional(),
  /** Of one that is unsupported. */
  why: z.string().optional(),
})
export type SaidSentence = z.infer<typeof SaidSentenceSchema>

/**
 * How every chain ends (docs/research.md, "SearchResult"), the failed ones too: then the synthesis says what happened.
 */
export const SearchResultSchema = z.object({
  evidence: z.array(EvidenceSchema).optional(),
  synthesis: z.string(),
  /**
   * Whether the synthesis answers the question: `part` says which part of it is not answered, `maybe` shows passages that
   * may answer it, `no` says why there is none.
   */
  answers: z.enum(['yes', 'part', 'maybe', 'no']).optional(),
  /** Of a synthesis somebody composed: its claims in order, each with its status. */
  sentences: z.array(SaidSentenceSchema).optional(),
  /** Absent only where synthesize_directly was the first and only step. */
  decomp_trace: DecompTraceSchema.optional(),
  tokens_used: z.int().optional(),
  /** Refine rounds; retightens are counted in the trace. */
  iterations: z.int().optional(),
})

export type SearchResult = z.infer<typeof SearchResultSchema>
export type DecompTrace = z.infer<typeof DecompTraceSchema>

export const searchResultKind: PayloadKind<SearchResult> = {
  schema: SearchResultSchema,
  validate: ({ evidence, synthesis, decomp_trace, tokens_used, iterations }) => [
    ...itemErrors('evidence', evidenceKind, evidence),
    ...blankErrors('synthesis', synthesis),
    ...rangeErrors('decomp_trace.retighten_rounds', decomp_trace?.retighten_rounds),
    ...rangeErrors('tokens_used', tokens_used),
    ...rangeErrors('iterations', iterations),
  ],
}

/** Characters of all sources of one block: grounding gates read no more than twice as much. */
const MOST_CHARACTERS = 1_048_576

/**
 * What a research block publishes, by the names of its ports (shared/document/ports.ts). `texts`: what each item
 * of evidence was read as when the answer was held against it; without, its snippet.
 */
export function researchBlockOutputs(
  result: SearchResult,
  texts: readonly string[] = [],
): Readonly<Record<string, Json>> {
  // A payload is JSON by its schema.
  const encoded = omitEmptyMembers(SearchResultSchema, result) as Readonly<Record<string, Json>>
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
