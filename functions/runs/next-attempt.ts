import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import type { GoalEvaluation } from '../../shared/goals/goal-evaluation.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { createRun } from './create-run.ts'
import { pivotedRun, pivotKey } from './pivoted-run.ts'
import type { Pinned } from './read-pinned.ts'

/** A person who asks for it with nothing to add gets the same run. */
const NOTHING_TO_ADD = sha256(canonicalJson({}))

/**
 * Makes the run that tries the goal again by itself (`completion.pivot: auto`), before this one ends partial and names it
 * as its `next_run`: asleep (queued, and in no queue), woken when this one gives back its place (settle-successor.ts).
 * Whoever repeats this makes the same run. undefined = none: a person is to decide, another attempt makes no sense, or
 * the run is a child, whose parent waits for it alone.
 */
export async function nextAttempt(
  world: Pick<World, 'runs' | 'objects' | 'clock' | 'settings'>,
  run: RunKey,
  pinned: Pinned,
  evaluation: GoalEvaluation,
): Promise<string | undefined> {
  const { meta } = pinned
  const { final_status, pivot } = evaluation.completion
  const isMeant = meta.goal?.completion.pivot === 'auto' && meta.parent === undefined
  if (!isMeant || final_status !== 'PARTIAL' || !pivot.shouldPivot) return undefined
  const next = await pivotedRun(world, run, pinned, evaluation)
  const { starter, starter_person } = meta
  const order = { ...next, run: pivotKey(run), starter, starter_person, body_hash: NOTHING_TO_ADD, queued: true }
  return (await createRun(world, order)).meta.run_id
}
