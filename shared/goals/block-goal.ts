import { quoted } from '../dag/wording.ts'
import type { CriterionResult, GoalGateResult } from './goal-gate.ts'
import type { PivotRecommendation } from './recommend-pivot.ts'

/** What the last attempt that may fail ends with. */
const ATTEMPTS_USED_UP = 'Maximum attempts reached'

/**
 * A gate that did not pass, after what its history says of it: criteria out of reach are BLOCKED, and so is the gate
 * when the last attempt is used up. One that passed stays as it is, on the last attempt too.
 */
export function blockByHistory(result: GoalGateResult, pivot: PivotRecommendation): GoalGateResult {
  if (result.passed) return result
  const criteriaResults = result.criteriaResults.map((one) => unreachable(one, pivot))
  const blocked = criteriaResults.filter(({ status }) => status === 'BLOCKED').map(({ message }) => message)
  const usedUp = pivot.attemptNumber >= pivot.maxAttempts ? [ATTEMPTS_USED_UP] : []
  const blockers = [...(result.blockers ?? []), ...blocked, ...usedUp]
  if (blockers.length === 0) return result
  return { ...result, criteriaResults, overallStatus: 'BLOCKED', blockers }
}

function unreachable(result: CriterionResult, { unachievable }: PivotRecommendation): CriterionResult {
  const { criterion, status, message } = result
  if (status === 'MET' || !unachievable.includes(criterion?.id)) return result
  const why = `Unachievable: two distinct approaches or more failed criterion ${quoted(criterion.id)} before this one; ${message}`
  return { ...result, status: 'BLOCKED', message: why }
}
