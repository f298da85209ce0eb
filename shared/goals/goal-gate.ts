import { quoted } from '../text/wording.ts'
import type { AcceptanceCriterion, CriterionStatus, EvidenceSource } from './criteria/criterion.ts'
import { criterionKind } from './criteria/registry.ts'
import type { Evidence } from './evidence.ts'
import { DEFAULT_MAX_ATTEMPTS } from './goal-contract.ts'
import type { ReadContract, ReadCriterion } from './read-contract.ts'

export type GoalStatus = 'MET' | 'NOT_MET' | 'BLOCKED' | 'NO_CONTRACT'

export interface CriterionResult {
  /** As it was given, or with its defaults where the contract is valid. */
  readonly criterion: AcceptanceCriterion
  readonly status: CriterionStatus
  readonly actualValue?: number | string
  readonly target?: number | string
  readonly message: string
  readonly source?: EvidenceSource
  /** What the next attempt could do about it; absent where it is met or unknown. */
  readonly suggestion?: string
}

export interface GoalGateResult {
  readonly passed: boolean
  readonly overallStatus: GoalStatus
  readonly criteriaResults: readonly CriterionResult[]
  readonly metCount: number
  readonly totalCount: number
  readonly maxAttempts: number
  /** Why it is BLOCKED. */
  readonly blockers?: readonly string[]
}

/**
 * The goal gate. `read` undefined = there is no contract, and the gate is skipped; anything else that is no valid contract is
 * judged and never passes. `blockers`: what somebody says keeps the goal from being met.
 */
export function judgeGoal(
  read: ReadContract | undefined,
  evidence: Evidence,
  blockers: readonly string[] = [],
): GoalGateResult {
  if (read === undefined) return summed([], DEFAULT_MAX_ATTEMPTS, 'NO_CONTRACT')
  const result = read.ok
    ? judgeAll(read.contract.acceptance_criteria, evidence, read.contract.max_goal_attempts)
    : judgeDoubtful(read.criteria, evidence)
  return blockers.length === 0 ? result : { ...result, passed: false, overallStatus: 'BLOCKED', blockers }
}

function judgeAll(criteria: readonly AcceptanceCriterion[], evidence: Evidence, maxAttempts: number): GoalGateResult {
  const results = criteria.map((criterion) => judgeCriterion(criterion, evidence))
  return summed(results, maxAttempts, results.every(({ status }) => status === 'MET') ? 'MET' : 'NOT_MET')
}

/** Criteria of a contract that is not valid: those nothing is wrong with are judged, and the gate is NOT_MET. */
function judgeDoubtful(criteria: readonly ReadCriterion[], evidence: Evidence): GoalGateResult {
  const results = criteria.map(({ value, problem }): CriterionResult => {
    const criterion = value as AcceptanceCriterion
    return problem === undefined
      ? judgeCriterion(criterion, evidence)
      : { criterion, status: 'UNKNOWN', message: problem }
  })
  return summed(results, DEFAULT_MAX_ATTEMPTS, 'NOT_MET')
}

function judgeCriterion(given: AcceptanceCriterion, evidence: Evidence): CriterionResult {
  const kind = criterionKind(given.kind)
  if (kind === undefined)
    return { criterion: given, status: 'UNKNOWN', message: `there is no kind ${quoted(given.kind)}` }
  const criterion = kind.schema.parse(given)
  const judged = kind.judge(criterion, evidence)
  const suggestion = judged.status === 'MET' ? undefined : kind.suggest(criterion, judged)
  const target = kind.target(criterion)
  // What a kind's schema answers is a criterion with its defaults.
  return {
    criterion: criterion as AcceptanceCriterion,
    ...judged,
    target,
    ...(suggestion !== undefined && { suggestion }),
  }
}

function summed(
  criteriaResults: readonly CriterionResult[],
  maxAttempts: number,
  overallStatus: GoalStatus,
): GoalGateResult {
  return {
    passed: overallStatus === 'MET' || overallStatus === 'NO_CONTRACT',
    overallStatus,
    criteriaResults,
    metCount: criteriaResults.filter(({ status }) => status === 'MET').length,
    totalCount: criteriaResults.length,
    maxAttempts,
  }
}
