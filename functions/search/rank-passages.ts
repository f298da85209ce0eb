import { isStopWord, plainWord, searchWords } from '../../shared/graph/search-words.ts'
import {
  type Found,
  idfAmong,
  type ParsedSearch,
  passageSkimmer,
  type ReadPassage,
  readPassage,
} from './passage-query.ts'

/** Best passages whose words are looked for too. */
const BEST = 3
const LEAST_STEMS = 3

/** A search of fewer words names what it wants. */
export function isShort({ stems }: ParsedSearch): boolean {
  return stems.size < LEAST_STEMS
}

/** Passages by number in `found`, best first. */
export interface Ranked {
  readonly at: number
  readonly node: number
  readonly score: number
}

/** What came of ranking. */
interface RankedPassages {
  readonly ranked: readonly Ranked[]
  /** The question has the whole name of something that was found. */
  readonly namesThings: boolean
}

/** The stages of ranking after the first. */
export interface RankingStages {
  readonly shared: boolean
  readonly lent: boolean
}

/**
 * Ranks what FTS5 found: by the question's words, by the mean of that and of the words its best passages share, and by
 * what the passages most like it come to (docs/adr/0043, 0088). Nothing new is found by the last two: they cost no further
 * read. They draw to what is alike: what a matter needs; a question that names things needs those, and what is unlike.
 */
export function rankPassages(
  found: Found,
  search: ParsedSearch,
  stages: RankingStages = { shared: true, lent: true },
): RankedPassages {
  const skimmed = found.passages.map(passageSkimmer(new Set(search.stems.keys())))
  const average = skimmed.reduce((sum, { length }) => sum + length, 0) / Math.max(1, skimmed.length)
  const asked = { weights: search.stems, idf: found.idf, pairs: search.pairs, average }
  const first = rank(skimmed, scored(skimmed, asked))
  // The rest of what they say matters to what goes beyond the question's own words.
  if (isName(skimmed, search)) return { ranked: first, namesThings: false }
  if (namesSome(found, first, search)) return { ranked: first, namesThings: true }
  return { ranked: rankByMatter(found, first, search, stages), namesThings: false }
}

/** What draws to what is alike. */
function rankByMatter(
  found: Found,
  first: readonly Ranked[],
  search: ParsedSearch,
  stages: RankingStages,
): readonly Ranked[] {
  const read = found.passages.map(readPassage)
  const idf = idfAmong(read, search.stems, found.idf)
  const directions = read.map((passage) => directionOf(passage, idf))
  const widened = stages.shared ? widen(read, directions, first, { search, idf }) : first
  if (!stages.lent) return widened
  const lent = lendScores(widened.map(({ at, node, score }) => ({ node, score, direction: directions[at] ?? [] })))
  return rank(read, scoresOf(widened.map(({ at }, place) => ({ at, score: lent[place] ?? 0 }))))
}

/**
 * By the mean of their scores and of how near they are to the question together with the best of them: relevance feedback
 * without anybody's judgement (Rocchio, in Salton, The SMART Retrieval System, 1971, 313-323).
 */
function widen(
  read: readonly ReadPassage[],
  directions: readonly Direction[],
  first: readonly Ranked[],
  { search, idf }: Pick<Wanted, 'idf'> & { readonly search: ParsedSearch },
): readonly Ranked[] {
  const wanted = widenSearch(search.stems, first.slice(0, BEST), directions, idf)
  const again = directions.map((direction) =>
    direction.reduce((sum, [stem, weight]) => sum + weight * (wanted.get(stem) ?? 0), 0),
  )
  const [most, mostAgain] = [first[0]?.score || 1, Math.max(...again) || 1]
  const mean = first.map(({ at, score }) => ({ at, score: (score / most + (again[at] ?? 0) / mostAgain) / 2 }))
  return rank(read, scoresOf(mean))
}

/** It has few words, or all of them stand in the names of one thing. */
function isName(read: readonly ReadPassage[], search: ParsedSearch): boolean {
  if (isShort(search)) return true
  const { stems } = search
  return read.some(({ names }) => [...stems.keys()].every((stem) => names.includes(stem)))
}

/** Best passages whose names are looked for in a search. */
const LOOKED_AT = 20

/**
 * It has the whole name of one of them (without a bracket at its end), written with a capital somewhere: a topic in small
 * letters is one, whatever is called so.
 */
function namesSome({ passages }: Found, first: readonly Ranked[], { stems, words: written }: ParsedSearch): boolean {
  const isProper = (stem: string) => /^\p{Lu}/u.test(written.get(stem) ?? '')
  return first.slice(0, LOOKED_AT).some(({ at }) =>
    (passages[at]?.names ?? '').split('\n').some((name) => {
      const words = tellingStems(name.replace(BRACKET, ''))
      return words.some(isProper) && words.every((stem) => stems.has(stem))
    }),
  )
}

const BRACKET = /\s*\([^()]*\)\s*$/

function tellingStems(text: string): readonly string[] {
  return searchWords(text).flatMap(({ stem, start, end }) =>
    isStopWord(plainWord(text.slice(start, end))) ? [] : [stem],
  )
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

/** Part of the best passages in what is looked for again. */
const PART = 0.5
/** Shorter stems of passages say too little. */
const LEAST_LETTERS = 3

/** The question's words and those of its best passages, by weight; each passage counts by its score. */
function widenSearch(
  stems: ReadonlyMap<string, number>,
  best: readonly Ranked[],
  directions: readonly Direction[],
  idf: (stem: string) => number,
): ReadonlyMap<string, number> {
  const shared = new Map<string, number>()
  for (const { at, score } of best) {
    for (const [stem, weight] of directions[at] ?? []) {
      if (stem.length >= LEAST_LETTERS) shared.set(stem, (shared.get(stem) ?? 0) + score * weight)
    }
  }
  const weights = new Map<string, number>()
  const asked = [...stems].map(([stem, often]) => [stem, often * idf(stem)] as const)
  for (const [stem, weight] of ofLengthOne(asked)) weights.set(stem, (1 - PART) * weight)
  for (const [stem, weight] of ofLengthOne([...shared])) weights.set(stem, (weights.get(stem) ?? 0) + PART * weight)
  return weights
}

/** Best passages that lend each other score, how many each borrows from, and how much of its own comes to be theirs. */
const LENDERS = 100
const NEIGHBOURS = 10
const BORROWED = 0.5

interface Scored {
  readonly node: number
  readonly score: number
  readonly direction: Direction
}

/**
 * The scores of the best passages, best first, each drawn half to those of the passages that are most like it: what is
 * relevant is alike, and what was found by a chance of words stands alone (score regularization: Diaz, CIKM 2005). Of
 * one entity's passages none lends to another. Passages after them keep their scores, which are lower.
 */
function lendScores(ranked: readonly Scored[]): readonly number[] {
  const lenders = ranked.slice(0, LENDERS)
  const likes = likenesses(lenders.map(({ direction }) => direction))
  const lent = lenders.map(({ score, node: own }, at) => {
    const near = lenders
      .map(({ node, score: theirs }, place) => ({ node, score: theirs, like: likes[at * lenders.length + place] ?? 0 }))
      .filter(({ node, like }) => like > 0 && node !== own)
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
function likenesses(directions: readonly Direction[]): Float64Array {
  const likes = new Float64Array(directions.length ** 2)
  for (const there of positionsOf(directions).values()) {
    for (const one of there) {
      for (const other of there) {
        const place = one.at * directions.length + other.at
        likes[place] = (likes[place] ?? 0) + one.weight * other.weight
      }
    }
  }
  return likes
}

type Positions = { readonly at: number; readonly weight: number }[]

/** The passages each word stands in. */
function positionsOf(directions: readonly Direction[]): ReadonlyMap<string, Positions> {
  const places = new Map<string, Positions>()
  for (const [at, direction] of directions.entries()) {
    for (const [stem, weight] of direction) {
      const there = places.get(stem)
      if (there === undefined) places.set(stem, [{ at, weight }])
      else there.push({ at, weight })
    }
  }
  return places
}

/** Words by weight; the squares sum to 1. */
type Direction = readonly (readonly [stem: string, weight: number])[]

/** Words of a passage that tell something, by how often they stand there and how telling they are. */
function directionOf(passage: ReadPassage, idf: (stem: string) => number): Direction {
  const telling = [...passage.often].filter(([stem]) => !isStopWord(stem))
  return ofLengthOne(telling.map(([stem, often]) => [stem, (1 + Math.log(often)) * idf(stem)] as const))
}

function ofLengthOne(weights: Direction): Direction {
  const norm = Math.sqrt(weights.reduce((sum, [, weight]) => sum + weight * weight, 0)) || 1
  return weights.map(([stem, weight]) => [stem, weight / norm])
}
