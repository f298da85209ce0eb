import type { Found } from './find-passages.ts'
import { idfAmong } from './idf-among.ts'
import { lendScores } from './lend-scores.ts'
import type { ParsedSearch } from './parse-search.ts'
import { type ReadPassage, readPassage } from './read-passage.ts'
import { scorePassage, type Wanted } from './score-passage.ts'
import { widenSearch } from './widen-search.ts'

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
