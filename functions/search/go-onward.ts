import type { DatabaseSync } from 'node:sqlite'
import type { SearchQuery } from '../../shared/graph/search-index.ts'
import { isStopWord, plainWord, searchWords, textWords } from '../../shared/graph/search-words.ts'
import { PASSAGE_SPAN } from './index-file.ts'
import { parseSearch } from './passage-query.ts'
import { type Ranking, rankByWords } from './search.ts'

/** Best hits that lead on: a search each. */
const LEADING = 3
/** Names of one hit that are looked for. */
const MOST_NAMES = 4
/** Hits of such a search that count. */
const FOUND = 20
/** Passages of it that are ranked: it knows names, and a fifth of what a first search reads finds as much. */
const MOST_RANKED = 40
/** What its best hit counts beside the best of the first search, where the hit that led there was the best. */
const COUNTED = 0.75

/** What a further search found. */
interface Onward {
  readonly score: number
  readonly ranking: Ranking
  /** Place among what that ranking found. */
  readonly at: number
}

/**
 * The next step of a question over several passages, where no link leads there: what a best hit names (the first names in
 * it that the question has not) and the question still asks for (its words that the hit has not) is searched for, once for
 * each of the best hits. By node, as parts of the best score. Only of a question that names something: one about a matter
 * wants what is alike (docs/adr/0089).
 */
export function goOnward(
  db: DatabaseSync,
  ranking: Ranking,
  query: Pick<SearchQuery, 'text' | 'filter'>,
  first: readonly { readonly node: number; readonly score: number }[],
  all: () => number,
): ReadonlyMap<number, Onward> {
  if (!ranking.namesThings) return new Map()
  const most = first[0]?.score || 1
  const onward = new Map<number, Onward>()
  for (const { node, score } of first.slice(0, LEADING)) {
    const search = parseSearch(nextSearch(query.text ?? '', passageOf(db, ranking, node)))
    if (search === undefined) continue
    const next = rankByWords(db, search, { ...query, limit: FOUND, most: MOST_RANKED }, all)
    keepBest(onward, next, { from: node, counted: (COUNTED * score) / most })
  }
  return onward
}

/** Adds what a search found to what others did, but not what led there. */
function keepBest(
  onward: Map<number, Onward>,
  ranking: Ranking,
  { from, counted }: { readonly from: number; readonly counted: number },
): void {
  const best = ranking.ranked[0]?.score || 1
  for (const { node, score, at } of bestOfEach(ranking)) {
    const worth = (counted * score) / best
    if (node !== from && worth > (onward.get(node)?.score ?? 0)) onward.set(node, { score: worth, ranking, at })
  }
}

function bestOfEach({ ranked }: Ranking): Ranking['ranked'] {
  const nodes = new Set<number>()
  const best = ranked.filter(({ node }) => !nodes.has(node) && nodes.add(node))
  return best.slice(0, FOUND)
}

interface Passage {
  readonly names: string
  readonly text: string
}

/** The one that was found, else the first of its entity. */
function passageOf(db: DatabaseSync, { found, ranked }: Ranking, node: number): Passage {
  const known = found.passages[ranked.find((one) => one.node === node)?.at ?? -1]
  if (known !== undefined) return known
  const row = db
    .prepare('SELECT e.names, p.text FROM entities e JOIN passages p ON p.id = ? WHERE e.node = ?')
    .get(node * PASSAGE_SPAN, node)
  return { names: String(row?.names ?? ''), text: String(row?.text ?? '') }
}

/** Words of the question the passage has not, and names of the passage the question has not; '' where either is missing. */
function nextSearch(question: string, { names, text }: Passage): string {
  const said = stemsIn(`${names}\n${text}`)
  const asked = stemsIn(question)
  const missing = textWords(question).filter(
    ({ word }) => !isStopWord(plainWord(word)) && [...stemsIn(word)].some((stem) => !said.has(stem)),
  )
  const named = [...new Set([...text.matchAll(NAME)].map(([name]) => name.replace(/['’]s$/, '')))].filter((name) =>
    [...stemsIn(name)].some((stem) => !asked.has(stem)),
  )
  if (missing.length === 0 || named.length === 0) return ''
  return [...missing.map(({ word }) => word), ...named.slice(0, MOST_NAMES)].join(' ')
}

/** Words with a capital one after the other, small ones of names between them: `University of Oslo`. */
const NAME = /\p{Lu}[\p{L}\p{M}\p{N}'’.-]*(?:\s+(?:(?:of|the|de|la|and|von|van|du)\s+)*\p{Lu}[\p{L}\p{M}\p{N}'’.-]*)*/gu

/** Of the words that tell something. */
function stemsIn(text: string): ReadonlySet<string> {
  return new Set(
    searchWords(text).flatMap(({ stem, start, end }) => (isStopWord(plainWord(text.slice(start, end))) ? [] : [stem])),
  )
}
