import { isStopWord } from '../../shared/graph/search-words.ts'
import type { ReadPassage } from './read-passage.ts'

/** Words that are added, and their part of the whole (docs/adr/0043). */
const ADDED = 30
const PART = 0.5

/**
 * The stems of a question and those its best passages share, by weight: relevance feedback (Lavrenko and Croft, SIGIR
 * 2001), each passage counting by its score.
 */
export function widenSearch(
  stems: ReadonlyMap<string, number>,
  best: readonly { readonly passage: ReadPassage; readonly score: number }[],
  idf: (stem: string) => number,
): ReadonlyMap<string, number> {
  const total = sumOf(best.map(({ score }) => score))
  const worth = new Map<string, number>()
  for (const { passage, score } of best) {
    const words = sumOf(passage.often.values())
    for (const [stem, often] of passage.often) {
      if (stem.length < 3 || isStopWord(stem)) continue
      worth.set(stem, (worth.get(stem) ?? 0) + (score / total) * (often / words) * idf(stem))
    }
  }
  const added = [...worth].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, ADDED)
  const weights = new Map<string, number>()
  share(weights, [...stems], 1 - PART)
  share(weights, added, PART)
  return weights
}

function share(
  weights: Map<string, number>,
  parts: readonly (readonly [stem: string, weight: number])[],
  whole: number,
): void {
  const total = sumOf(parts.map(([, weight]) => weight))
  for (const [stem, weight] of parts) weights.set(stem, (weights.get(stem) ?? 0) + (whole * weight) / total)
}

/** 1 for nothing, so that it can be divided by. */
function sumOf(numbers: Iterable<number>): number {
  let sum = 0
  for (const number of numbers) sum += number
  return sum || 1
}
