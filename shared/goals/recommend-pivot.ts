import { type GoalAttempt, unmetIds } from './goal-attempt.ts'
import type { GoalGateResult } from './goal-gate.ts'

/** Distinct approaches that failed a criterion before it counts as out of reach. */
const FAILED_APPROACHES = 2

export interface PivotRecommendation {
  readonly shouldPivot: boolean
  /** Of the attempt that is judged, from 1. */
  readonly attemptNumber: number
  readonly maxAttempts: number
  /** One for each criterion that is not met. */
  readonly suggestions: readonly string[]
  /** Ids of criteria that enough distinct approaches failed before this one did too. */
  readonly unachievable: readonly string[]
}

/** Whether another attempt makes sense after this one, and what it should change. `history`: the attempts that failed before. */
export function recommendPivot(
  result: GoalGateResult,
  history: readonly (GoalAttempt | GoalGateResult)[],
): PivotRecommendation {
  const earlier = history.map((one) => ('unmet' in one ? one : { unmet: unmetIds(one) }))
  const attemptNumber = history.length + 1
  const { maxAttempts, overallStatus, criteriaResults } = result
  const unachievable = unmetIds(result).filter((id) => approachesThatFailed(id, earlier) >= FAILED_APPROACHES)
  return {
    shouldPivot: overallStatus === 'NOT_MET' && unachievable.length === 0 && attemptNumber < maxAttempts,
    attemptNumber,
    maxAttempts,
    suggestions: criteriaResults.flatMap(({ criterion, suggestion }) =>
      suggestion === undefined ? [] : [`${criterion.id}: ${suggestion}${again(criterion.id, earlier)}`],
    ),
    unachievable,
  }
}

function approachesThatFailed(id: string, earlier: readonly GoalAttempt[]): number {
  const failed = earlier.filter(({ unmet }) => unmet.includes(id))
  return new Set(failed.flatMap(({ fingerprint }) => fingerprint ?? [])).size
}

/** A second failure calls for something else, not for more of the same. */
function again(id: string, earlier: readonly GoalAttempt[]): string {
  const times = earlier.filter(({ unmet }) => unmet.includes(id)).length
  if (times === 0) return ''
  return `; ${times === 1 ? 'an earlier attempt' : `${times} earlier attempts`} failed it too: try another approach`
}
