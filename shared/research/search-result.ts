import * as z from 'zod'
import type { PayloadKind } from './decode-payload.ts'
import { EvidenceSchema, evidenceKind } from './evidence.ts'
import { itemErrors } from './item-errors.ts'
import { refuseBlank, refuseRange } from './payload-rules.ts'

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

/** How one sentence of the synthesis stands to what it cites (support.ts says what the words mean). */
export const SaidSentenceSchema = z.object({
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
    ...refuseBlank('synthesis', synthesis),
    ...refuseRange('decomp_trace.retighten_rounds', decomp_trace?.retighten_rounds),
    ...refuseRange('tokens_used', tokens_used),
    ...refuseRange('iterations', iterations),
  ],
}
