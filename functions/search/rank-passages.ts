import { isStopWord } from '../../shared/graph/search-words.ts'
import { type Found, idfAmong, type ParsedSearch, type ReadPassage, readPassage } from './passage-query.ts'

/** Best passages whose words are added to a question's. */
const BEST = 3
/** A search of fewer words names what it wants. */
const LEAST_STEMS = 3

/** Passages by number in `found`, best first. */
export interface Ranked {
  readonly at: number
  readonly node: number
  readonly score: number
}

/**
 * Ranks what FTS5 found: by the question's words, by the mean of that and of the words its best passages share, and by
 * what the passages most like it come to (docs/adr/0043). Nothing new is found by the last two: they cost no further
 * read, and a search that names something goes without them.
 */
export function rankPassages(found: Found, search: ParsedSearch): readonly Ranked[] {
  const read = found.passages.map(readPassage)
  const idf = idfAmong(read, search.stems, found.idf)
  const average = read.reduce((sum, { length }) => sum + length, 0) / Math.max(1, read.length)
  const first = rank(read, scored(read, { weights: search.stems, idf, pairs: search.pairs, average }))
  if (isName(read, search)) return first
  const best = passagesOf(read, first.slice(0, BEST))
  const again = scored(read, { weights: widenSearch(search.stems, best, idf), idf, pairs: [], average })
  const [most, mostAgain] = [first[0]?.score || 1, Math.max(...again) || 1]
  const mean = first.map(({ at, score }) => ({ at, score: (score / most + (again[at] ?? 0) / mostAgain) / 2 }))
  const widened = rank(read, scoresOf(mean))
  const lent = lendScores(passagesOf(read, widened), idf)
  return rank(read, scoresOf(widened.map(({ at }, place) => ({ at, score: lent[place] ?? 0 }))))
}

/** It has few words, or all of them stand in the names of one thing. */
function isName(read: readonly ReadPassage[], { stems }: ParsedSearch): boolean {
  if (stems.size < LEAST_STEMS) return true
  return read.some(({ names }) => [...stems.keys()].every((stem) => names.includes(stem)))
}

/** By place in `read`. */
function scored(read: readonly ReadPassage[], wanted: Wanted): readonly number[] {
  return read.map((passage) => scorePassage(passage, wanted))
}

function scoresOf(ranked: readonly { readonly at: number; readonly score: number }[]): readonly number[] {
  return ranked.toSorted((a, b) => a.at - b.at).map(({ score }) => score)
}

function rank(read: readonly ReadPassage[], scores: readonly number[]): readonly Ranked[] {
  const places = read.map(({ node }, at) => ({ at, node, score: scores[at] ?? 0 }))
  return places.toSorted((a, b) => b.score - a.score || a.at - b.at)
}

function passagesOf(read: readonly ReadPassage[], ranked: readonly Ranked[]) {
  return ranked.flatMap(({ at, score }) => {
    const passage = read[at]
    return passage === undefined ? [] : [{ passage, score }]
  })
}

/** What a pair of neighbours of the question adds where it stands together, and half of it where it stands near. */
const PAIR_BONUS = 0.25
/** Words two stems of a pair may be apart to be near. */
const NEAR = 8

/** What a passage is scored against. */
interface Wanted {
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
function scorePassage(passage: ReadPassage, { weights, idf, pairs, average }: Wanted): number {
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

/** Words that are added, and their part of the whole (docs/adr/0043). */
const ADDED = 30
const PART = 0.5

/**
 * The stems of a question and those its best passages share, by weight: relevance feedback (Lavrenko and Croft, SIGIR
 * 2001), each passage counting by its score.
 */
function widenSearch(
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
function lendScores(ranked: readonly Scored[], idf: (stem: string) => number): readonly number[] {
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
  for (const there of positionsOf(passages, idf).values()) {
    for (const one of there) {
      for (const other of there) {
        const place = one.at * passages.length + other.at
        likes[place] = (likes[place] ?? 0) + one.weight * other.weight
      }
    }
  }
  return likes
}

type Positions = { readonly at: number; readonly weight: number }[]

/** The passages each word stands in. */
function positionsOf(passages: readonly ReadPassage[], idf: (stem: string) => number): ReadonlyMap<string, Positions> {
  const places = new Map<string, Positions>()
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
