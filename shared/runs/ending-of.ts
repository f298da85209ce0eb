import type { Append } from './append.ts'
import type { EventData } from './event.ts'
import type { RunEnding } from './head.ts'
import { isRunEnd } from './is-run-end.ts'

/** How an append ends its run, if it does: its last event says when and why. */
export function endingOf({ at, events }: Pick<Append, 'at' | 'events'>): RunEnding | undefined {
  const end = events.at(-1)
  if (end === undefined || !isRunEnd(end.type)) return undefined
  // The ends of a run all say the same things.
  const { code, reason } = end.data as EventData<'run:completed'>
  return { at, code, reason }
}
