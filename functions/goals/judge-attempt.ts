import { Fault } from '../../shared/errors.ts'
import { type CompletionRequest, evaluateCompletion } from '../../shared/goals/evaluate-completion.ts'
import { approachFingerprint, failedAttempt } from '../../shared/goals/goal-attempt.ts'
import type { GoalEvaluation } from '../../shared/goals/goal-evaluation.ts'
import type { StoredGoalAttempt } from '../../shared/runs/goal-attempts.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import type { RunRequest } from './completion-request.ts'

/** Runs of one lineage that end at the same moment, at most: each of them gets another number. */
const MOST_RACES = 50

/**
 * The gates over one attempt at the goal of its lineage. One that failed gets its number there before anybody hears of
 * it; who is too late for a number is judged again, since one more attempt has failed before it. A run that has its
 * number keeps it, so that a repeat says the same.
 */
export async function judgeAttempt(
  { runs, clock }: Pick<World, 'runs' | 'clock'>,
  meta: Meta,
  { request, left_out }: RunRequest,
): Promise<GoalEvaluation> {
  const { tenant, run_id } = meta
  const root = meta.root ?? run_id
  for (let race = 0; race < MOST_RACES; race += 1) {
    const before = attemptsBefore(await runs.goalAttempts(tenant, root), run_id)
    const evaluation = judged(meta, { ...request, prior_attempts: before.map(asPrior) }, left_out)
    const { completion, goal } = evaluation
    const failed = failedAttempt(goal)
    if (failed === undefined) return evaluation
    const attempt = {
      run_id,
      at: new Date(clock.now()).toISOString(),
      status: completion.final_status,
      fingerprint: fingerprintOf(meta),
      unmet: failed.unmet,
      metCount: goal.metCount,
      totalCount: goal.totalCount,
    }
    if (await runs.putGoalAttempt(tenant, root, before.length + 1, attempt)) return evaluation
  }
  const message = `Cannot number the attempt of run "${run_id}" at its goal: ${MOST_RACES} other runs of its lineage were faster. Try again.`
  throw new Fault('Unavailable', 'goal_attempts_contended', message, { facts: { run_id } })
}

function attemptsBefore(known: readonly StoredGoalAttempt[], run_id: string): readonly StoredGoalAttempt[] {
  const own = known.find((one) => one.run_id === run_id)
  return own === undefined ? known : known.filter(({ n }) => n < own.n)
}

function asPrior({ fingerprint, unmet }: StoredGoalAttempt): { fingerprint: string; unmet: readonly string[] } {
  return { fingerprint, unmet }
}

function judged(meta: Meta, request: CompletionRequest, left_out: RunRequest['left_out']): GoalEvaluation {
  const contract_hash = meta.goal?.contract_hash
  return {
    ...evaluateCompletion(request),
    ...(contract_hash === undefined ? {} : { contract_hash }),
    request,
    ...(left_out.length === 0 ? {} : { left_out }),
  }
}

/** Feedback is stored by its hash: its ref names it. */
function fingerprintOf({ dag_hash, inputs_hash, pivots, iterates }: Meta): string {
  const ref = (pivots ?? iterates)?.feedback_ref ?? ''
  return approachFingerprint({ dag_hash, inputs_hash, feedback_hash: ref.slice(ref.lastIndexOf('/') + 1) })
}
