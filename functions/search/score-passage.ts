import type { ReadPassage } from './read-passage.ts'

/** What a pair of neighbours of the question adds where it stands together, and half of it where it stands near. */
const PAIR_BONUS = 0.25
/** Words two stems of a pair may be apart to be near. */
const NEAR = 8

/** What a passage is scored against. */
export interface Wanted {
  readonly weights: ReadonlyMap<string, number>
  readonly idf: (stem: string) => number
  readonly pairs: readonly (readonly [string, string])[]
  /** Mean length of the passages that were found. */
  readonly average: number
}

/**
 * How often each wanted word stands there, made good for the length and saturating, by how telling it is: InL2 of the
 * divergence from randomness (Amati and van Rijsbergen, TOIS 20(4), 2002); and a bonus for pairs.
 */
export function scorePassage(passage: ReadPassage, { weights, idf, pairs, average }: Wanted): number {
  const good = Math.log2(1 + average / Math.max(1, passage.length))
  let score = 0
  for (const [stem, weight] of weights) {
    const often = (passage.often.get(stem) ?? 0) * good
    if (often > 0) score += (weight * idf(stem) * often) / (often + 1)
  }
  for (const [first, second] of pairs) {
    if (!passage.often.has(first) || !passage.often.has(second)) continue
    const close = closeness(passage.names, first, second) + closeness(passage.body, first, second)
    score += (PAIR_BONUS * close * (idf(first) + idf(second))) / 2
  }
  return score
}

/** 1: somewhere `second` follows `first`; a half: somewhere they are near; else 0. */
function closeness(stems: readonly string[], first: string, second: string): number {
  let before = -1
  let near = 0
  for (let at = 0; at < stems.length; at += 1) {
    if (stems[at] !== first && stems[at] !== second) continue
    // The nearest of the other is the one met last, or one that is met later.
    const other = before >= 0 && stems[before] !== stems[at]
    if (other && before === at - 1 && stems[at] === second) return 1
    if (other && at - before <= NEAR) near = 0.5
    before = at
  }
  return near
}
