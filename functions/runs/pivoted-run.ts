import type { Json } from '../../shared/canonical.ts'
import type { GoalEvaluation } from '../../shared/goals/goal-evaluation.ts'
import { pivotFeedback } from '../../shared/goals/pivot-feedback.ts'
import { runIdOfKey } from '../../shared/runs/ids.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { carryGoal } from '../goals/freeze-goal.ts'
import type { RunOrder } from './create-run.ts'
import { givenContext } from './given-context.ts'
import type { Pinned } from './read-pinned.ts'
import { MADE_KEYS, retriedValues } from './retried-values.ts'

/** What makes the id of the one run that tries a run's goal again, whoever makes it: runIdOfKey of the run. */
export const PIVOT = 'pivot'

/** The next attempt at a run's goal, before anybody gave it other values. */
type PivotedRun = Pick<
  RunOrder,
  | 'dag'
  | 'dag_hash'
  | 'machine'
  | 'context'
  | 'overrides'
  | 'edited'
  | 'children'
  | 'given'
  | 'options'
  | 'root'
  | 'continues'
  | 'pivots'
  | 'goal'
>

export function pivotKey({ tenant, run_id }: RunKey): RunKey {
  return { tenant, run_id: runIdOfKey(tenant, PIVOT, run_id) }
}

/**
 * The same pinned document and frozen contract, the context as the run left it, and in it `feedback` and `suggestions`:
 * what the next attempt is to do otherwise. None of its results are taken over.
 */
export async function pivotedRun(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  old: Pinned,
  { completion }: GoalEvaluation,
  words?: string,
): Promise<PivotedRun> {
  const { dag, meta } = old
  const { dag_hash, machine, options, continues, edited, children } = meta
  const { context, earlier, overrides } = await retriedValues(world, run, { run, old, dag })
  const { task, ...others } = context
  // A document that moves a task moves it again, from where it was found.
  const found: Json | undefined = dag.task_gates === undefined ? task : earlier.task
  const { text, suggestions } = pivotFeedback(completion, words)
  const { ref } = await world.objects.put(run.tenant, Buffer.from(text))
  const goal = await carryGoal(world, meta)
  const carried = { dag, context: others, made: MADE_KEYS, before: { run, meta } }
  const given = await givenContext(world, carried)
  return {
    ...{ dag, dag_hash, machine, overrides, options },
    context: { ...others, ...(found === undefined ? {} : { task: found }), feedback: text, suggestions },
    pivots: { run_id: run.run_id, feedback_ref: ref },
    root: meta.root ?? run.run_id,
    ...(edited === undefined ? {} : { edited }),
    ...(children === undefined ? {} : { children }),
    ...given,
    ...(continues === undefined ? {} : { continues }),
    ...(goal === undefined ? {} : { goal }),
  }
}
