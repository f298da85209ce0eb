import type { CriterionStatus, EvidenceSource } from './criteria/criterion.ts'
import { decideFinalStatus, type FinalStatus, type NextAction, readBlockers, readClaim } from './decision-table.ts'
import { type Evidence, type EvidenceArtifact, type EvidenceText, readEvidence, saysNothing } from './evidence.ts'
import { type CriterionResult, type GoalGateResult, type GoalStatus, judgeGoal } from './goal-gate.ts'
import { MOST_MARKERS } from './marker.ts'
import { type GoalAttempt, markBlockedByHistory, type PivotRecommendation, recommendPivot } from './pivot.ts'
import { judgeQuality, type QualityProfile, type QualityResult } from './quality-gate.ts'
import { readGoalContract } from './read-contract.ts'
import { judgeTrust, type TrustResult } from './trust-gate.ts'

export interface CompletionRequest {
  /** undefined = there is none. Anything else is judged as one: YAML text, a document that has one, an object. */
  readonly contract?: unknown
  /** In event order. */
  readonly texts: readonly EvidenceText[]
  readonly artifacts: readonly EvidenceArtifact[]
  /** Outputs that are no texts (numbers, objects, lists, files) and say something. */
  readonly other_outputs?: number
  /** What each configured verifier said; none = no verifier. */
  readonly trust_scores: readonly unknown[]
  readonly claimed_status?: unknown
  /** The attempts at this goal that failed before. */
  readonly prior_attempts?: readonly GoalAttempt[]
  readonly quality?: QualityProfile
  readonly blockers?: unknown
}

export interface EvaluatedCompletion {
  readonly completion: Completion
  readonly goal: GoalGateResult
  readonly trust: TrustResult
}

/**
 * All gates over one attempt, and what they decide (docs/goal-gates.md). Pure: the same request gives the same answer,
 * byte for byte. A gate that crashes has failed: the run is PARTIAL at best, with a warning.
 */
export function evaluateCompletion(request: CompletionRequest): EvaluatedCompletion {
  const crashes: string[] = []
  const guarded = <T>(gate: string, judge: () => T, failed: T): T => {
    try {
      return judge()
    } catch (error) {
      crashes.push(`The ${gate} gate crashed and counts as failed: ${error instanceof Error ? error.message : error}`)
      return failed
    }
  }
  const blockers = readBlockers(request.blockers)
  const trust = guarded('trust', () => judgeTrust(request.trust_scores), CRASHED.trust)
  const { goal, pivot, contract_errors, cut } = guarded('goal', () => judgeGoalSoFar(request, blockers), CRASHED)
  const qualify = () =>
    hasEvidence(request, goal) ? judgeQuality(readEvidence(request.texts), request.quality) : NO_QUALITY.quality
  const quality = guarded('quality', qualify, CRASHED.quality)
  const claim = readClaim(request.claimed_status)
  const decision = decideFinalStatus({
    trust_passed: trust.passed,
    goal_status: goal.overallStatus,
    quality_passed: quality.passed,
    claimed_status: claim.status,
  })
  const completion: Completion = {
    goal_status: goal.overallStatus,
    met_count: goal.metCount,
    total_count: goal.totalCount,
    trust_passed: trust.passed,
    quality,
    ...decision,
    warnings: completionWarnings({
      goal,
      trust,
      quality,
      contract_errors,
      blockers,
      unknown_claim: !claim.known,
      cut_blocks: cut,
      crashes,
    }),
    criteria: goal.criteriaResults.map(viewOf),
    pivot: { ...pivot, shouldPivot: pivot.shouldPivot && PIVOT_ACTIONS.has(decision.action) },
  }
  return { completion, goal, trust }
}

/** Actions that a further attempt is part of. */
const PIVOT_ACTIONS: ReadonlySet<string> = new Set(['pivot', 'rework_and_pivot'])

interface GoalSoFar {
  readonly goal: GoalGateResult
  readonly pivot: PivotRecommendation
  readonly contract_errors: readonly string[]
  readonly cut: Evidence['cut']
}

function judgeGoalSoFar(request: CompletionRequest, blockers: readonly string[]): GoalSoFar {
  const { contract, texts, artifacts, prior_attempts = [] } = request
  const read = contract === undefined ? undefined : readGoalContract(contract)
  const evidence = readEvidence(texts, artifacts)
  const judged = judgeGoal(read, evidence, blockers)
  const pivot = recommendPivot(judged, prior_attempts)
  const contract_errors = read === undefined || read.ok ? [] : read.errors.map(({ message }) => message)
  return { goal: markBlockedByHistory(judged, pivot), pivot, contract_errors, cut: evidence.cut }
}

function viewOf({ criterion, status, actualValue, target, message, source }: CriterionResult): CriterionView {
  const id: unknown = criterion?.id
  return {
    id: typeof id === 'string' ? id : null,
    status,
    actual: actualValue ?? null,
    target: target ?? null,
    message,
    source: source ?? null,
  }
}

/**
 * Whether anything was said or made that a gate could judge. An artifact without a byte is nothing; one whose size nobody
 * tells counts where a criterion asks for it and takes it as it is given.
 */
function hasEvidence({ texts, artifacts, other_outputs = 0 }: CompletionRequest, goal: GoalGateResult): boolean {
  if (other_outputs > 0 || artifacts.some(({ bytes = 0 }) => bytes > 0)) return true
  if (texts.some(({ text }) => !saysNothing(text))) return true
  return goal.criteriaResults.some(
    ({ status, criterion, source }) =>
      status === 'MET' && criterion.kind === 'artifact_exists' && source?.bytes === undefined,
  )
}

const NO_EVIDENCE =
  'there is no evidence: no block gave a text that says something, a value or an artifact with content'

/** Nothing has no quality, whatever a verifier says of it: never SUCCESS. */
const NO_QUALITY = {
  quality: { passed: false, score: 0, violations: [{ code: 'NO_EVIDENCE', penalty: 100, message: NO_EVIDENCE }] },
} as const

/** What is known of a gate that crashed. */
const CRASHED = {
  trust: { score: null, passed: false, band: null, message: 'the trust gate crashed' },
  goal: { passed: false, overallStatus: 'NOT_MET', criteriaResults: [], metCount: 0, totalCount: 0, maxAttempts: 1 },
  quality: { passed: false, score: 0, violations: [] },
  pivot: { shouldPivot: false, attemptNumber: 1, maxAttempts: 1, suggestions: [], unachievable: [] },
  contract_errors: [],
  cut: [],
} as const

/** Something a person should know about how a run ended. */
interface CompletionWarning {
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

interface Judged {
  readonly goal: GoalGateResult
  readonly trust: TrustResult
  readonly quality: QualityResult
  /** What is wrong with the contract. */
  readonly contract_errors: readonly string[]
  /** A claimed status nobody knows. */
  readonly unknown_claim: boolean
  /** What somebody says keeps the goal from being met. */
  readonly blockers: readonly string[]
  /** Blocks with more markers than are read; undefined = texts of nobody known. */
  readonly cut_blocks: readonly (string | undefined)[]
  /** Gates that crashed, in words. */
  readonly crashes: readonly string[]
}

/** What a person should know of gates that did not pass, the goal first. */
function completionWarnings(judged: Judged): readonly CompletionWarning[] {
  const { goal, contract_errors, crashes } = judged
  return [
    ...goalWarnings(goal),
    ...evidenceWarnings(judged),
    ...skippedWarnings(judged),
    ...judged.cut_blocks.map((block) => warning('MARKERS_CUT', `${whose(block)} has ${MORE}`)),
    ...contract_errors.map((message) => ({ code: 'GOAL_CONTRACT_INVALID', message, severity: 'error' as const })),
    ...crashes.map((message) => ({ code: 'GATE_CRASHED', message, severity: 'error' as const })),
  ]
}

const MORE = `more than ${MOST_MARKERS} markers in all its texts together; those behind were not read`

function whose(block: string | undefined): string {
  return block === undefined ? 'the output' : `block "${block}"`
}

function goalWarnings({ passed, metCount, totalCount, blockers = [] }: GoalGateResult): readonly CompletionWarning[] {
  if (passed) return []
  // Word for word what readers of these warnings compare with.
  const message = `Goal criteria not met: ${metCount}/${totalCount} criteria passed`
  const blocked = blockers.map((blocker) => warning('GOAL_BLOCKED', `The goal is blocked: ${blocker}`))
  return [warning('GOAL_NOT_MET', message), ...blocked]
}

function evidenceWarnings({ trust, quality }: Judged): readonly CompletionWarning[] {
  const { violations, score } = quality
  const flaws = `${violations.length} violation${violations.length === 1 ? '' : 's'}`
  return [
    ...(trust.passed ? [] : [warning('TRUST_NOT_VERIFIED', `Trust gate failed: ${trust.message}`)]),
    ...(quality.passed ? [] : [warning('QUALITY_NOT_PASSED', `Quality gates failed: ${flaws}, score ${score}`)]),
  ]
}

/** What was said and could not count. */
function skippedWarnings({ goal, blockers, unknown_claim }: Judged): readonly CompletionWarning[] {
  const without = goal.overallStatus === 'NO_CONTRACT' && blockers.length > 0
  return [
    ...(without
      ? [warning('BLOCKERS_WITHOUT_CONTRACT', `There is no goal contract to block: ${blockers.join('; ')}`)]
      : []),
    ...(unknown_claim ? [warning('CLAIM_UNKNOWN', 'The claimed status is none; it counts as PARTIAL')] : []),
  ]
}

function warning(code: string, message: string): CompletionWarning {
  return { code, message, severity: 'warning' }
}

/**
 * How a run was judged, as it is stored: what the gates said and everything they were asked with, so that anybody gets
 * the same answer again. `goal:evaluated` has its ref.
 */
export interface GoalEvaluation extends EvaluatedCompletion {
  /** sha256 of the frozen contract; absent = there is none. */
  readonly contract_hash?: string
  readonly request: CompletionRequest
  /** What the run recorded and what was no evidence all the same: an artifact that is not in the object store. */
  readonly left_out?: readonly { readonly artifact: string; readonly why: string }[]
}
