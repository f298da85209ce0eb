import { type GoalEnding, goalEnding } from '../../shared/goals/goal-ending.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { shortText } from '../blocks/short-text.ts'
import { nextAttempt } from '../runs/next-attempt.ts'
import type { Pinned } from '../runs/read-pinned.ts'
import { readEvaluation } from './read-evaluation.ts'

/**
 * The verdict that the evaluation of a run gives it, whose blocks ended well (`words` say how); undefined = there is
 * none yet. A run that goes on by itself names the run that does.
 */
export async function judgedVerdict(
  world: Pick<World, 'runs' | 'objects' | 'clock' | 'settings'>,
  run: RunKey,
  pinned: Pinned,
  words: string,
): Promise<(GoalEnding & { readonly next_run?: string }) | undefined> {
  const found = await readEvaluation(world, run)
  if (found === undefined) return undefined
  const ending = goalEnding(found.evaluation.completion, words)
  const next_run = await nextAttempt(world, run, pinned, found.evaluation)
  return { ...ending, reason: shortText(ending.reason), ...(next_run === undefined ? {} : { next_run }) }
}
