import type { ReadPassage } from './read-passage.ts'

/**
 * How telling a stem is: of the question's own as the whole index says, of others as few of the passages that were found
 * have it. To ask the index for each of some thousand stems takes longer than all the rest of a search.
 */
export function idfAmong(
  passages: readonly ReadPassage[],
  own: ReadonlyMap<string, number>,
  idf: (stem: string) => number,
): (stem: string) => number {
  const counts = new Map<string, number>()
  for (const { often } of passages) {
    for (const stem of often.keys()) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  }
  const known = new Map<string, number>([...own.keys()].map((stem) => [stem, idf(stem)]))
  return (stem) => {
    const value = known.get(stem) ?? idfOf(counts.get(stem) ?? 0, passages.length)
    known.set(stem, value)
    return value
  }
}

/** Of a stem that `having` of `all` passages have (Robertson and Spärck Jones, never below 0). */
export function idfOf(having: number, all: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5))
}
