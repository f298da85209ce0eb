import { oneLine } from './plain-text.ts'
import type { ExitCode } from './refused.ts'
import type { RunView } from './run-view.ts'
import { count, durationWords } from './words.ts'

/** 0 completed (or continued in a linked run), 3 partial or blocked, 1 every other end. */
export function exitCodeOf(state: string): ExitCode {
  if (state === 'completed' || state === 'iterated') return 0
  return state === 'partial' || state === 'blocked' ? 3 : 1
}

/** One sentence on how a run ended. */
export function endWords(view: RunView): string {
  const took = durationWords((view.ended_at ?? 0) - (view.started_at ?? 0))
  const attempts = [...view.blocks.values()].reduce((sum, { attempt }) => sum + attempt, 0)
  const done = `${count(view.blocks.size, 'block')}, ${count(attempts, 'attempt')}`
  const why = view.state === 'completed' || view.reason === undefined ? '' : `: ${oneLine(view.reason)}`
  return `Run ${view.run_id} ${view.state} in ${took} (${done})${why}`
}
