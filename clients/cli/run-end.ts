import type { RunAnswer } from './fetch-run.ts'
import { oneLine } from './plain-text.ts'
import type { ExitCode } from './refused.ts'
import { count, durationWords } from './words.ts'

/** 0 completed (or continued in a linked run), 3 partial or blocked, 1 every other end. */
export function exitCodeOf(state: string): ExitCode {
  if (state === 'completed' || state === 'iterated') return 0
  return state === 'partial' || state === 'blocked' ? 3 : 1
}

/** One sentence on how a run ended. */
export function endWords({ run, blocks, steps }: RunAnswer): string {
  const took = durationWords(Date.parse(run.ended_at ?? '') - Date.parse(run.started_at ?? ''))
  const done = `${count(Object.keys(blocks).length, 'block')}, ${count(steps.length, 'attempt')}`
  const why = run.state === 'completed' || run.reason === undefined ? '' : `: ${oneLine(run.reason)}`
  const next = run.next_run === undefined ? '' : `. It goes on as ${oneLine(run.next_run)}`
  return `Run ${run.run_id} ${run.state} in ${took} (${done})${why}${next}`
}
