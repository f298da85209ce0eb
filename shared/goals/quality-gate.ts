import type { EvidenceSource } from './criteria/criterion-kind.ts'
import type { Evidence } from './evidence.ts'
import type { QualityProfile } from './quality/quality-rule.ts'
import { QUALITY_RULES } from './quality/registry.ts'

export interface QualityViolation {
  readonly code: string
  readonly penalty: number
  readonly message: string
  readonly source?: EvidenceSource
}

export interface QualityResult {
  readonly passed: boolean
  /** 100 less the penalties, 0 at least. */
  readonly score: number
  readonly violations: readonly QualityViolation[]
}

/** The quality gates: passed without a single violation. */
export function judgeQuality(evidence: Evidence, profile: QualityProfile = 'standard'): QualityResult {
  const rules = QUALITY_RULES.filter((rule) => rule.profile === 'standard' || rule.profile === profile)
  const violations = rules.flatMap(({ code, penalty, flaws }) =>
    flaws(evidence).map(({ message, source }) => ({ code, penalty, message, ...(source !== undefined && { source }) })),
  )
  const penalties = violations.reduce((sum, { penalty }) => sum + penalty, 0)
  return { passed: violations.length === 0, score: Math.max(0, 100 - penalties), violations }
}
