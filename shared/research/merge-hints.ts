import type { Hints } from './search-hints.ts'
import { timeRange } from './time-words.ts'

/**
 * The hints a search runs with: the caller's as they came, `recency` as a time range where the topic names none, and
 * over them what the topic's own words say.
 */
export function mergeHints(caller: Readonly<Record<string, string>>, topic: Hints, now: Date): Hints {
  const recency = caller.recency === undefined ? undefined : timeRange(caller.recency, now)
  return { ...caller, ...(recency === undefined ? {} : { time_range: recency }), ...topic }
}

/** A retighten's hints over the original ones; none leaves the originals. */
export function retightenedHints(
  original: Readonly<Record<string, string>> | undefined,
  refined: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  return { ...original, ...refined }
}
