import { isStopWord, searchWords } from '../../shared/graph/search-words.ts'
import type { Found } from './find-passages.ts'
import type { ParsedSearch } from './parse-search.ts'
import { type ReadPassage, scorePassage, type Wanted } from './score-passage.ts'

/** Best passages whose words are added to a question's, how many words, and their part of the whole (docs/adr/0043). */
const FEEDBACK = { passages: 3, words: 20, part: 0.5 } as const
/** A search of fewer words names what it wants: it is not widened. */
const LEAST_STEMS = 3

/** Passages by number in `found`, best first. */
export interface Ranked {
  readonly at: number
  readonly node: number
  readonly score: number
}

/**
 * Ranks what FTS5 found: BM25 over names and text with a bonus for pairs of the question's neighbours; then, for a
 * question, once more with the words its best passages share (relevance feedback, Lavrenko and Croft, SIGIR 2001), and the
 * mean of both. Nothing new is found by that: it costs no further read.
 */
export function rankPassages(found: Found, search: ParsedSearch): readonly Ranked[] {
  const read = found.passages.map(({ node, names, facts, text }) => ({
    node,
    names: stemsOf(names),
    body: [...stemsOf(facts), ...stemsOf(text)],
  }))
  if (read.length === 0) return []
  const average = {
    names: mean(read.map(({ names }) => names.length)),
    body: mean(read.map(({ body }) => body.length)),
  }
  const { idf } = found
  const first = rank(read, { weights: search.stems, idf, pairs: search.pairs, average })
  if (search.stems.size < LEAST_STEMS) return first
  const second = rank(read, { weights: widened(read, first, search, idf), idf, pairs: new Set(), average })
  return meanOf(first, second)
}

function rank(read: readonly ReadPassage[], wanted: Wanted): readonly Ranked[] {
  const scored = read.map((passage, at) => ({ at, node: passage.node, score: scorePassage(passage, wanted) }))
  return scored.toSorted((a, b) => b.score - a.score || a.at - b.at)
}

/** Both scores as parts of their best. */
function meanOf(first: readonly Ranked[], second: readonly Ranked[]): readonly Ranked[] {
  const [most, mostThen] = [first[0]?.score || 1, second[0]?.score || 1]
  const then = new Map(second.map(({ at, score }) => [at, score / mostThen]))
  return first
    .map(({ at, node, score }) => ({ at, node, score: (score / most + (then.get(at) ?? 0)) / 2 }))
    .toSorted((a, b) => b.score - a.score || a.at - b.at)
}

/** The question's stems and those of its best passages, each half of the whole. */
function widened(
  read: readonly ReadPassage[],
  first: readonly Ranked[],
  { stems }: ParsedSearch,
  idf: (stem: string) => number,
): ReadonlyMap<string, number> {
  const best = first.slice(0, FEEDBACK.passages)
  const total = best.reduce((sum, { score }) => sum + score, 0) || 1
  const worth = new Map<string, number>()
  for (const { at, score } of best) {
    const { names = [], body = [] } = read[at] ?? {}
    const all = [...names, ...body]
    for (const stem of all) {
      if (stem.length < 3 || isStopWord(stem)) continue
      worth.set(stem, (worth.get(stem) ?? 0) + (score / total / all.length) * idf(stem))
    }
  }
  const added = [...worth].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, FEEDBACK.words)
  const weights = new Map<string, number>()
  const share = (pairs: Iterable<readonly [string, number]>, part: number): void => {
    const list = [...pairs]
    const sum = list.reduce((all, [, weight]) => all + weight, 0) || 1
    for (const [stem, weight] of list) weights.set(stem, (weights.get(stem) ?? 0) + (part * weight) / sum)
  }
  share(stems, 1 - FEEDBACK.part)
  share(added, FEEDBACK.part)
  return weights
}

function stemsOf(text: string): readonly string[] {
  return searchWords(text).map(({ stem }) => stem)
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length)
}
