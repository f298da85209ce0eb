import type { CriterionStatus, EvidenceSource } from './criteria/criterion-kind.ts'
import type { GoalStatus } from './goal-gate.ts'
import type { QualityResult } from './quality-gate.ts'
import type { PivotRecommendation } from './recommend-pivot.ts'
import type { FinalStatus, NextAction } from './two-gates.ts'

/** Something a person should know about how a run ended. */
export interface CompletionWarning {
  readonly code: string
  readonly message: string
  readonly severity: 'warning' | 'error'
}

/** One criterion as answers tell it; null = there is none. */
export interface CriterionView {
  readonly id: string | null
  readonly status: CriterionStatus
  readonly actual: number | string | null
  readonly target: number | string | null
  readonly message: string
  readonly source: EvidenceSource | null
}

/** What the gates say of one attempt: both gates and quality always, whatever the first of them said. */
export interface Completion {
  readonly goal_status: GoalStatus
  readonly met_count: number
  readonly total_count: number
  readonly trust_passed: boolean
  readonly quality: QualityResult
  readonly final_status: FinalStatus
  /** The row of the matrix: `PASS x NOT_MET`. */
  readonly row: string
  readonly action: NextAction
  readonly warnings: readonly CompletionWarning[]
  readonly criteria: readonly CriterionView[]
  readonly pivot: PivotRecommendation
}
