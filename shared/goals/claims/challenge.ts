import type { QuoteIndex } from '../../research/quote-index.ts'
import type { EvidenceSource } from '../criteria/criterion-kind.ts'
import type { Evidence } from '../evidence.ts'
import type { JudgedFinding } from '../verified-findings.ts'

/** One question put to a claim, and what the stored evidence answers. */
export interface Challenge {
  /** What is asked about; `GOAL_CLAIM_MISMATCH`: SUCCESS is claimed, and the goal gate does not pass. */
  readonly type: 'ci' | 'effect_size' | 'p_value' | 'reference' | 'metric' | 'artifact' | 'GOAL_CLAIM_MISMATCH'
  /** `unsupported`: the evidence says nothing about it, neither for nor against. */
  readonly outcome: 'upheld' | 'refuted' | 'unsupported'
  /** One sentence without a full stop. */
  readonly message: string
  readonly source: EvidenceSource | null
}

/** What claims are checked against. */
export interface CheckedRecord {
  readonly evidence: Evidence
  readonly quotes: QuoteIndex
}

/** Asks one finding at least one question: adding one is a function in a file and a line in registry.ts. */
export type Challenger = (finding: JudgedFinding, record: CheckedRecord) => readonly Challenge[]
