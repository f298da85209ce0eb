import { blockByHistory } from './block-goal.ts'
import type { Completion, CriterionView } from './completion.ts'
import { completionWarnings } from './completion-warnings.ts'
import { type Evidence, type EvidenceArtifact, type EvidenceText, readEvidence, saysNothing } from './evidence.ts'
import type { GoalAttempt } from './goal-attempt.ts'
import { type CriterionResult, type GoalGateResult, judgeGoal } from './goal-gate.ts'
import type { QualityProfile } from './quality/quality-rule.ts'
import { judgeQuality } from './quality-gate.ts'
import { readGoalContract } from './read-contract.ts'
import { readBlockers, readClaim } from './read-verdicts.ts'
import { type PivotRecommendation, recommendPivot } from './recommend-pivot.ts'
import { judgeTrust, type TrustResult } from './trust-gate.ts'
import { decideTwoGates } from './two-gates.ts'

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
    hasEvidence(request, goal) ? judgeQuality(readEvidence(request.texts), request.quality) : NOTHING.quality
  const quality = guarded('quality', qualify, CRASHED.quality)
  const claim = readClaim(request.claimed_status)
  const decision = decideTwoGates({
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
    pivot: { ...pivot, shouldPivot: pivot.shouldPivot && PIVOTS.has(decision.action) },
  }
  return { completion, goal, trust }
}

/** Actions that a further attempt is part of. */
const PIVOTS: ReadonlySet<string> = new Set(['pivot', 'rework_and_pivot'])

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
  return { goal: blockByHistory(judged, pivot), pivot, contract_errors, cut: evidence.cut }
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
const NOTHING = {
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
