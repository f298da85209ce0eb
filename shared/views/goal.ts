import type { GoalAnswer } from '../api/goal-routes.ts'
import type { CriterionView, EvaluatedCompletion, GoalEvaluation } from '../goals/completion.ts'
import { criterionKind } from '../goals/criteria/registry.ts'
import type { FinalStatus } from '../goals/decision-table.ts'
import { DEFAULT_MAX_ATTEMPTS, type GoalContract } from '../goals/goal-contract.ts'
import type { PivotRecommendation } from '../goals/pivot.ts'
import type { QualityResult } from '../goals/quality-gate.ts'
import type { TrustResult } from '../goals/trust-gate.ts'
import type { EventData, RunEvent } from '../runs/event.ts'
import type { RunGoal, RunLink, StoredGoalAttempt } from '../runs/run-store.ts'

interface GoalParts {
  readonly run_id: string
  readonly state: GoalAnswer['state']
  readonly goal: RunGoal
  readonly contract: GoalContract | undefined
  readonly judged: { readonly event: Pick<RunEvent, 'at'>; readonly evaluation: GoalEvaluation } | undefined
  /** Of its lineage. */
  readonly attempts: readonly StoredGoalAttempt[]
  readonly lineage: readonly RunLink[]
  /** The event that ended it. */
  readonly end: RunEvent | undefined
}

/** What GET run/goal answers. */
export function viewGoal(parts: GoalParts): GoalAnswer {
  const { run_id, state, goal, attempts } = parts
  const { contract_hash = null, source = null } = goal
  return {
    ...{ run_id, state, contract_hash, contract_from: source },
    ...(parts.judged === undefined ? pending(parts) : snapshot(parts, parts.judged)),
    attempts: attempts.map(viewAttempt),
  }
}

/** What the gates said of a run that has not ended, or was stopped before it could end so, is not how it ended. */
function snapshot(
  parts: GoalParts,
  { event, evaluation }: NonNullable<GoalParts['judged']>,
): Omit<GoalAnswer, 'run_id' | 'state' | 'contract_hash' | 'contract_from' | 'attempts'> {
  const { run_id, contract, attempts, end } = parts
  const { completion, goal } = evaluation
  const status = endOf(end)?.final_status ?? null
  const { attemptNumber } = completion.pivot
  const { metCount, totalCount } = goal
  const own = status === null ? [] : [{ attemptNumber, run_id, at: event.at, status, metCount, totalCount }]
  const others = attempts.filter((one) => status === null || one.run_id !== run_id)
  const last = newest([...others.map(viewAttempt), ...own])
  const { pivot, ...rest } = goalSnapshot(evaluation, contract?.goal_text ?? null, last)
  const shouldPivot = pivot.shouldPivot && end?.type === 'run:partial'
  const next = { mode: parts.goal.completion.pivot, ...pivot, shouldPivot, ...nextOf(parts) }
  return { ...rest, final_status: status, warnings: completion.warnings, pivot: next }
}

/** What is wanted, and nothing is known of yet; a run that was never judged ended as it ended. */
function pending({
  run_id,
  contract,
  attempts,
  end,
}: GoalParts): Omit<GoalAnswer, 'run_id' | 'state' | 'contract_hash' | 'contract_from' | 'attempts'> {
  const criteria = contract?.acceptance_criteria ?? []
  const noted = attempts.find((one) => one.run_id === run_id)
  const message = end === undefined ? 'it is not judged yet' : 'the run ended before it was judged'
  return {
    goal_text: contract?.goal_text ?? null,
    criteriaCount: criteria.length,
    metCount: 0,
    attemptNumber: noted?.n ?? attempts.length + 1,
    maxAttempts: contract?.max_goal_attempts ?? DEFAULT_MAX_ATTEMPTS,
    criteria: criteria.map((criterion) => {
      const { id, kind } = criterion
      const known = criterionKind(kind)
      const target = known?.target(known.schema.parse(criterion)) ?? null
      return { id, kind, status: 'PENDING', actual: null, target, message, source: null }
    }),
    ...{ trust: null, quality: null, row: null, pivot: null, warnings: [] },
    final_status: endOf(end)?.final_status ?? null,
    lastGoalAttempt: newest(attempts.map(viewAttempt)),
  }
}

function endOf(end: RunEvent | undefined): EventData<'run:completed'> | undefined {
  return end?.type.startsWith('run:') && end.type !== 'run:started'
    ? (end.data as EventData<'run:completed'>)
    : undefined
}

function nextOf({ run_id, lineage, end }: GoalParts): { readonly next_run?: string } {
  const made = lineage.find(({ kind, from }) => kind === 'pivot' && from === run_id)
  const next_run = endOf(end)?.next_run ?? made?.run_id
  return next_run === undefined ? {} : { next_run }
}

function viewAttempt({ n, run_id, at, status, metCount, totalCount }: StoredGoalAttempt): LastGoalAttempt {
  return { attemptNumber: n, run_id, at, status, metCount, totalCount }
}

/** An attempt the limit blocks is noted by its evaluation alone, and has the number of the last or one more. */
function newest(attempts: readonly LastGoalAttempt[]): LastGoalAttempt | null {
  return attempts.toSorted((a, b) => (a.at < b.at ? -1 : 1)).at(-1) ?? null
}

/** The last attempt of a run's lineage that was evaluated. */
interface LastGoalAttempt {
  readonly attemptNumber: number
  readonly run_id: string
  readonly at: string
  readonly status: FinalStatus
  readonly metCount: number
  readonly totalCount: number
}

/** How far a run is with its goal (docs/goal-gates.md, "Runs"). */
interface GoalSnapshot {
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
