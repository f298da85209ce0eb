import * as z from 'zod'
import type { Json } from '../../text/json.ts'
import type { Evidence, EvidencePosition } from '../evidence.ts'

export type CriterionStatus = 'MET' | 'NOT_MET' | 'BLOCKED' | 'UNKNOWN'

/** Members every criterion has, and those of its kind. */
export interface AcceptanceCriterion {
  readonly id: string
  readonly kind: string
  /** For people; never looked at. */
  readonly description?: string | undefined
  readonly [field: string]: Json | undefined
}

/** Which line, block, attempt and event supplied what was judged; of an artifact also what is stored. */
export interface EvidenceSource extends EvidencePosition {
  readonly line?: number
  readonly bytes?: number
  readonly sha256?: string
}

/** What a kind says about one criterion. `message` is one sentence without a full stop. */
export interface Judgement {
  readonly status: 'MET' | 'NOT_MET'
  readonly actualValue?: number | string
  readonly message: string
  readonly source?: EvidenceSource
}

/**
 * One kind of criterion: adding one is this object in a file of its own and a line in registry.ts. `judge` is pure and
 * total; what it cannot find is NOT_MET.
 */
export interface CriterionKind<Criterion> {
  readonly kind: string
  /** For the generated reference. */
  readonly summary: string
  readonly example: AcceptanceCriterion
  /** Strict, `id`, `kind` and `description` among its members: unknown keys are errors. */
  readonly schema: z.ZodObject & z.ZodType<Criterion>
  /** What is asked for, as it stands beside the actual value. */
  target(criterion: Criterion): number | string
  /** What is asked for and how it is shown, for who does the work. */
  asks(criterion: Criterion): string
  judge(criterion: Criterion, evidence: Evidence): Judgement
  /** What to do about it, for the next attempt. */
  suggest(criterion: Criterion, judged: Judgement): string
}

/** Members of every criterion; a kind adds its own. */
export const CRITERION_BASE = {
  id: z.string().regex(/\S/, 'it must not be blank').max(100),
  description: z.string().max(2_000).optional(),
} as const

/** The provenance of a marker or artifact, and nothing else of it. */
export function sourceOf(found: EvidencePosition & EvidenceSource): EvidenceSource {
  const { line, block, attempt, seq, bytes, sha256 } = found
  return {
    ...(line !== undefined && { line }),
    ...(block !== undefined && { block }),
    ...(attempt !== undefined && { attempt }),
    ...(seq !== undefined && { seq }),
    ...(bytes !== undefined && { bytes }),
    ...(sha256 !== undefined && { sha256 }),
  }
}
