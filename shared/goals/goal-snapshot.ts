import type { CriterionView } from './completion.ts'
import type { EvaluatedCompletion } from './evaluate-completion.ts'
import type { QualityResult } from './quality-gate.ts'
import type { PivotRecommendation } from './recommend-pivot.ts'
import type { TrustResult } from './trust-gate.ts'
import type { FinalStatus } from './two-gates.ts'

/** The last attempt of a run's lineage that was evaluated. */
export interface LastGoalAttempt {
  readonly attemptNumber: number
  readonly run_id: string
  readonly at: string
  readonly status: FinalStatus
  readonly metCount: number
  readonly totalCount: number
}

/** How far a run is with its goal (docs/goal-gates.md, "Runs"). */
export interface GoalSnapshot {
  readonly goal_text: string | null
  readonly criteriaCount: number
  readonly metCount: number
  readonly attemptNumber: number
  readonly maxAttempts: number
  readonly criteria: readonly (CriterionView & { readonly kind: string | null })[]
  readonly trust: Omit<TrustResult, 'message'>
  readonly quality: Omit<QualityResult, 'passed'>
  readonly row: string
  readonly final_status: FinalStatus
  readonly pivot: PivotRecommendation
  readonly lastGoalAttempt: LastGoalAttempt | null
}

/** The snapshot of an evaluated run; `goal_text` is null where it has no contract. */
export function goalSnapshot(
  { completion, goal, trust }: EvaluatedCompletion,
  goal_text: string | null,
  lastGoalAttempt: LastGoalAttempt | null,
): GoalSnapshot {
  const { criteria, quality, row, final_status, pivot } = completion
  const kinds = goal.criteriaResults.map(({ criterion }): unknown => criterion?.kind)
  return {
    goal_text,
    criteriaCount: goal.totalCount,
    metCount: goal.metCount,
    attemptNumber: pivot.attemptNumber,
    maxAttempts: pivot.maxAttempts,
    criteria: criteria.map((criterion, index) => ({ ...criterion, kind: wordOf(kinds[index]) })),
    trust: { score: trust.score, passed: trust.passed, band: trust.band },
    quality: { score: quality.score, violations: quality.violations },
    row,
    final_status,
    pivot,
    lastGoalAttempt,
  }
}

function wordOf(kind: unknown): string | null {
  return typeof kind === 'string' ? kind : null
}
