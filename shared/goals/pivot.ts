import { sha256 } from '../text/hash.ts'
import { canonicalJson } from '../text/json.ts'
import { quoted } from '../text/wording.ts'
import type { CriterionResult, GoalGateResult } from './goal-gate.ts'

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
      suggestion === undefined ? [] : [`${criterion.id}: ${suggestion}${failedBefore(criterion.id, earlier)}`],
    ),
    unachievable,
  }
}

function approachesThatFailed(id: string, earlier: readonly GoalAttempt[]): number {
  const failed = earlier.filter(({ unmet }) => unmet.includes(id))
  return new Set(failed.flatMap(({ fingerprint }) => fingerprint ?? [])).size
}

/** A second failure calls for something else, not for more of the same. */
function failedBefore(id: string, earlier: readonly GoalAttempt[]): string {
  const times = earlier.filter(({ unmet }) => unmet.includes(id)).length
  if (times === 0) return ''
  return `; ${times === 1 ? 'an earlier attempt' : `${times} earlier attempts`} failed it too: try another approach`
}

/** An earlier attempt at the goal that failed: what a run's lineage keeps of it. */
export interface GoalAttempt {
  /** Which approach it was; absent = unknown, and then it proves nothing about a criterion. */
  readonly fingerprint?: string
  /** Ids of the criteria it did not meet. */
  readonly unmet: readonly string[]
}

/** The approach of an attempt: the same DAG with the same inputs and feedback is the same approach. */
export function approachFingerprint(approach: {
  readonly dag_hash: string
  readonly inputs_hash: string
  readonly feedback_hash: string
}): string {
  const { dag_hash, inputs_hash, feedback_hash } = approach
  return sha256(canonicalJson({ dag_hash, inputs_hash, feedback_hash }))
}

/** What to keep of an attempt; undefined where it is none that counts: the goal was met, skipped, or stopped by a blocker. */
export function failedAttempt(result: GoalGateResult, fingerprint?: string): GoalAttempt | undefined {
  if (result.overallStatus !== 'NOT_MET') return undefined
  return { unmet: unmetIds(result), ...(fingerprint !== undefined && { fingerprint }) }
}

function unmetIds({ criteriaResults }: GoalGateResult): readonly string[] {
  const unmet = criteriaResults.filter(({ status }) => status !== 'MET')
  // A criterion of a malformed contract may have none.
  return unmet.map(({ criterion }) => criterion?.id).filter((id) => typeof id === 'string')
}

/** What the last attempt that may fail ends with. */
const ATTEMPTS_USED_UP = 'Maximum attempts reached'

/**
 * A gate that did not pass, after what its history says of it: criteria out of reach are BLOCKED, and so is the gate
 * when the last attempt is used up. One that passed stays as it is, on the last attempt too.
 */
export function markBlockedByHistory(result: GoalGateResult, pivot: PivotRecommendation): GoalGateResult {
  if (result.passed) return result
  const criteriaResults = result.criteriaResults.map((one) => outOfReach(one, pivot))
  const blocked = criteriaResults.filter(({ status }) => status === 'BLOCKED').map(({ message }) => message)
  const usedUp = pivot.attemptNumber >= pivot.maxAttempts ? [ATTEMPTS_USED_UP] : []
  const blockers = [...(result.blockers ?? []), ...blocked, ...usedUp]
  if (blockers.length === 0) return result
  return { ...result, criteriaResults, overallStatus: 'BLOCKED', blockers }
}

function outOfReach(result: CriterionResult, { unachievable }: PivotRecommendation): CriterionResult {
  const { criterion, status, message } = result
  if (status === 'MET' || !unachievable.includes(criterion?.id)) return result
  const why = `Unachievable: two distinct approaches or more failed criterion ${quoted(criterion.id)} before this one; ${message}`
  return { ...result, status: 'BLOCKED', message: why }
}
