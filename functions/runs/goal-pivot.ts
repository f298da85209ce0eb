import type { GoalEvaluation } from '../../shared/goals/completion.ts'
import { pivotFeedback } from '../../shared/goals/pivot-feedback.ts'
import { runIdOfKey } from '../../shared/runs/ids.ts'
import { currentLabels } from '../../shared/runs/labels.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { carryGoal } from '../record/freeze-goal.ts'
import type { Pinned } from '../record/pinned-run.ts'
import { withCodeOfToday } from './code-of-today.ts'
import { givenContext, MADE_KEYS, retriedValues } from './context.ts'
import { createRun, keptScripts, type RunOrder } from './create-run.ts'

/** A person who asks for it with nothing to add gets the same run. */
const NOTHING_TO_ADD = sha256(canonicalJson({}))

/**
 * Makes the run that tries the goal again by itself (`completion.pivot: auto`), before this one ends partial and names it
 * as its `next_run`: asleep (queued, and in no queue), woken when this one gives back its slot (functions/runs/lineage.ts).
 * Whoever repeats this makes the same run. undefined = none: a person is to decide, another attempt makes no sense, or
 * the run is a child, whose parent waits for it alone.
 */
export async function makePivotRun(
  world: Pick<World, 'runs' | 'objects' | 'clock' | 'settings' | 'steps'>,
  run: RunKey,
  pinned: Pinned,
  evaluation: GoalEvaluation,
): Promise<string | undefined> {
  const { meta } = pinned
  const { final_status, pivot } = evaluation.completion
  const isMeant = meta.goal?.completion.pivot === 'auto' && meta.parent === undefined
  if (!isMeant || final_status !== 'PARTIAL' || !pivot.shouldPivot) return undefined
  const dag = await withCodeOfToday(world, pinned.dag, { doing: 'pivot', asItWas: 'all' })
  const next = await preparePivotRun(world, run, { ...pinned, dag }, evaluation)
  const { starter, starter_person } = meta
  const order = { ...next, run: pivotKey(run), starter, starter_person, body_hash: NOTHING_TO_ADD, queued: true }
  return (await createRun(world, order)).meta.run_id
}

/** What makes the id of the one run that tries a run's goal again, whoever makes it: runIdOfKey of the run. */
export const PIVOT_KIND = 'pivot'

/** The next attempt at a run's goal, before anybody gave it other values. */
type PivotedRun = Pick<
  RunOrder,
  | 'subjects'
  | 'dag'
  | 'dag_hash'
  | 'scripts'
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
  | 'turn'
  | 'priority'
  | 'labels'
>

function pivotKey({ tenant, run_id }: RunKey): RunKey {
  return { tenant, run_id: runIdOfKey(tenant, PIVOT_KIND, run_id) }
}

/**
 * The same document, bound to the code its steps have now, the frozen contract, the context as the run left it, and in it `feedback` and `suggestions`:
 * what the next attempt is to do otherwise. None of its results are taken over.
 */
export async function preparePivotRun(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  old: Pinned,
  { completion }: GoalEvaluation,
  words?: string,
): Promise<PivotedRun> {
  const { dag, meta } = old
  const { dag_hash, machine, options, continues, edited, children, turn, priority } = meta
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
    ...{ dag, dag_hash, machine, overrides, options, scripts: await keptScripts(world, run.tenant, dag) },
    context: { ...others, ...(found === undefined ? {} : { task: found }), feedback: text, suggestions },
    pivots: { run_id: run.run_id, feedback_ref: ref },
    root: meta.root ?? run.run_id,
    subjects: meta.subjects,
    labels: currentLabels(meta, (await world.runs.head(run, [])) ?? {}),
    ...(edited === undefined ? {} : { edited }),
    ...(children === undefined ? {} : { children }),
    ...given,
    turn,
    priority,
    ...(continues === undefined ? {} : { continues }),
    ...(goal === undefined ? {} : { goal }),
  }
}
