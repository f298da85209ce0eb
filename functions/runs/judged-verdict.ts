import { type GoalEnding, goalEnding } from '../../shared/goals/completion.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { shortText } from '../../shared/text/short-text.ts'
import type { World } from '../../shared/world.ts'
import { readEvaluation } from '../record/evaluation.ts'
import type { Pinned } from '../record/read-run.ts'
import { nextAttempt } from './next-attempt.ts'

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
