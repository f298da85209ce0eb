import { isStopWord } from '../../shared/graph/search-words.ts'
import type { ReadPassage } from './read-passage.ts'

/** Best passages that lend each other score, how many each borrows from, and how much of its own comes to be theirs. */
const LENDERS = 60
const NEIGHBOURS = 10
const BORROWED = 0.5

interface Scored {
  readonly passage: ReadPassage
  readonly score: number
}

/**
 * The scores of the best passages, best first, each drawn half to those of the passages that are most like it: what is
 * relevant is alike, and what was found by a chance of words stands alone (score regularization: Diaz, CIKM 2005). Of
 * one entity's passages none lends to another. Passages after them keep their scores, which are lower.
 */
export function lendScores(ranked: readonly Scored[], idf: (stem: string) => number): readonly number[] {
  const lenders = ranked.slice(0, LENDERS)
  const likes = likenesses(
    lenders.map(({ passage }) => passage),
    idf,
  )
  const lent = lenders.map(({ score, passage }, at) => {
    const near = lenders
      .map((other, place) => ({
        score: other.score,
        node: other.passage.node,
        like: likes[at * lenders.length + place] ?? 0,
      }))
      .filter(({ node, like }) => like > 0 && node !== passage.node)
      .toSorted((a, b) => b.like - a.like)
      .slice(0, NEIGHBOURS)
    const all = near.reduce((sum, { like }) => sum + like, 0)
    const theirs = near.reduce((sum, other) => sum + other.like * other.score, 0)
    return all === 0 ? score : (1 - BORROWED) * score + (BORROWED * theirs) / all
  })
  const least = Math.min(...lent)
  const next = ranked[lenders.length]?.score ?? 0
  const scale = next > least ? least / next : 1
  return ranked.map(({ score }, at) => lent[at] ?? score * scale)
}

/** Cosines of every two, by word: most words stand in few of them. */
function likenesses(passages: readonly ReadPassage[], idf: (stem: string) => number): Float64Array {
  const likes = new Float64Array(passages.length ** 2)
  for (const there of placesOf(passages, idf).values()) {
    for (const one of there) {
      for (const other of there) {
        const place = one.at * passages.length + other.at
        likes[place] = (likes[place] ?? 0) + one.weight * other.weight
      }
    }
  }
  return likes
}

type Places = { readonly at: number; readonly weight: number }[]

/** The passages each word stands in. */
function placesOf(passages: readonly ReadPassage[], idf: (stem: string) => number): ReadonlyMap<string, Places> {
  const places = new Map<string, Places>()
  for (const [at, passage] of passages.entries()) {
    for (const [stem, weight] of weightsOf(passage, idf)) {
      const there = places.get(stem)
      if (there === undefined) places.set(stem, [{ at, weight }])
      else there.push({ at, weight })
    }
  }
  return places
}

/** Words that tell something, by how often they stand there and how telling they are; the squares sum to 1. */
function weightsOf(passage: ReadPassage, idf: (stem: string) => number): readonly (readonly [string, number])[] {
  const telling = [...passage.often].filter(([stem]) => !isStopWord(stem))
  const weights = telling.map(([stem, often]) => [stem, (1 + Math.log(often)) * idf(stem)] as const)
  const norm = Math.hypot(...weights.map(([, weight]) => weight)) || 1
  return weights.map(([stem, weight]) => [stem, weight / norm])
}
