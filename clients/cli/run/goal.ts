import type { Command } from 'commander'
import type * as z from 'zod'
import { GOAL_ROUTES } from '../../../shared/api/goal-routes.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import { type TargetOptions, withReadingOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'

const GoalSchema = GOAL_ROUTES['get-goal'].answer.loose()
type Goal = z.infer<typeof GoalSchema>

export function addRunGoal(parent: Command, session: Session): void {
  withReadingOptions(parent.command('goal').description('how far a run is with its goal: criteria, gates, attempts'))
    .argument('<run-id>')
    .action(async (runId: string, options: TargetOptions) => {
      await sayRunGoal(session, chooseTarget(session, options.url), runId, options.json === true)
    })
}

/** How far a run is with its goal. */
export async function sayRunGoal(session: Session, target: Target, runId: string, json: boolean): Promise<void> {
  const goal = await callApi(target, GoalSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}/goal', { params: { path: { run_id: runId } } }),
  )
  if (json) session.say(jsonText(goal, 2))
  else for (const line of goalOfRunLines(goal)) session.say(plainText(line))
}

function goalOfRunLines(goal: Goal): readonly string[] {
  const { run_id, state, goal_text, final_status, row, attemptNumber, maxAttempts, trust, quality, warnings } = goal
  const notEnded = row === null ? 'not judged yet' : 'not ended yet'
  const status = [final_status ?? notEnded, row].filter(Boolean).join('  ')
  return [
    `${run_id}  ${state}  ${status}  attempt ${attemptNumber} of ${maxAttempts}`,
    `goal     ${goal_text ?? 'there is no goal contract'} (${goal.metCount}/${goal.criteriaCount})`,
    ...(trust === null
      ? []
      : [`trust    ${trust.passed ? 'PASS' : 'FAIL'}: ${trust.score ?? 'no score'}${bandOf(trust)}`]),
    ...(quality === null ? [] : [`quality  score ${quality.score}`]),
    ...goal.criteria.map(criterionLine),
    ...(quality?.violations ?? []).map(({ code, message }) => `  ${code}  ${message}`),
    ...warnings.map(({ code, message, severity }) => `${severity}: ${message} [${code}]`),
    ...nextLines(goal),
    ...goal.attempts.map(({ attemptNumber: n, run_id: id, at, status: ended, metCount, totalCount }) => {
      return `attempt ${n}  ${id}  ${at}  ${ended}  ${metCount}/${totalCount}`
    }),
  ]
}

function bandOf({ band }: NonNullable<Goal['trust']>): string {
  return band === null ? '' : ` (${band})`
}

/** With the block that supplied what was judged. */
function criterionLine({ id, status, message, source }: Goal['criteria'][number]): string {
  const { block, attempt, seq } = source ?? {}
  // An artifact is no event.
  const event = seq === undefined ? '' : `, event ${seq}`
  const from = block === undefined ? '' : `  [${block}, attempt ${attempt}${event}]`
  return `  ${status.padEnd(7)}  ${id ?? '-'}  ${message}${from}`
}

/** What the next attempt is told, and which run it is. */
function nextLines({ run_id, pivot }: Goal): readonly string[] {
  if (pivot === null) return []
  const { next_run, shouldPivot, suggestions } = pivot
  const next = next_run === undefined ? `Start it: run pivot ${run_id}` : `It is run ${next_run}`
  const told = ['For the next attempt:', ...suggestions.map((one) => `  ${one}`), next]
  return shouldPivot || next_run !== undefined ? told : []
}
