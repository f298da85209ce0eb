import type { EvidenceSource } from '../criteria/criterion-kind.ts'
import type { Evidence } from '../evidence.ts'

export type QualityProfile = 'standard' | 'ml'

export interface QualityFlaw {
  /** One sentence without a full stop. */
  readonly message: string
  readonly source?: EvidenceSource
}

/** One quality rule: adding one is this object in a file and a line in registry.ts. */
export interface QualityRule {
  readonly code: string
  /** Taken off 100 for each flaw. */
  readonly penalty: number
  /** `standard` rules always hold, those of another profile where it is chosen. */
  readonly profile: QualityProfile
  /** For the generated reference. */
  readonly summary: string
  flaws(evidence: Evidence): readonly QualityFlaw[]
}
