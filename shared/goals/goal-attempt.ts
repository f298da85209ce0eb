import { canonicalJson, sha256 } from '../canonical.ts'
import type { GoalGateResult } from './goal-gate.ts'

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

export function unmetIds({ criteriaResults }: GoalGateResult): readonly string[] {
  const unmet = criteriaResults.filter(({ status }) => status !== 'MET')
  // A criterion of a malformed contract may have none.
  return unmet.map(({ criterion }) => criterion?.id).filter((id) => typeof id === 'string')
}
