import type { DatabaseSync } from 'node:sqlite'
import { cutSnippet } from '../../shared/graph/cut-passages.ts'
import { LOOKUP_LIMIT, type SearchHit, type SearchIndex, type SearchQuery } from '../../shared/graph/search-index.ts'
import { wordSkimmer } from '../../shared/graph/search-words.ts'
import { lookupName, writtenName } from './entity-rows.ts'
import { PASSAGE_SPAN, prepared } from './index-file.ts'
import { type FilterSql, type Found, filterSql, findPassages, type ParsedSearch, parseSearch } from './passage-query.ts'
import { isShort, type Ranked, type RankingStages, rankPassages } from './rank-passages.ts'

/** Passages ranked: what FTS5 has further down does not come up. */
const LEAST_RANKED = 200
/** Of a search of so few words that it names what it wants: names count twice where FTS5 finds them, so it stands high. */
const NAMES_RANKED = 100

/** The best hits of a query, or without words the newest of its filter. `all`: how many passages there are. */
export function searchPassages(db: DatabaseSync, query: SearchQuery, all: () => number): readonly SearchHit[] {
  const search = query.text === undefined ? undefined : parseSearch(query.text)
  if (search === undefined) return newestHits(db, filterSql(query.filter), query.limit)
  const ranking = rankByWords(db, search, query, all)
  return bestPassages(ranking, query.limit).flatMap((place) => showHit(db, ranking, place))
}

/** What the words of a text find. */
export interface Ranking {
  readonly found: Found
  /** Passages, best first. */
  readonly ranked: readonly Ranked[]
  /** The text has the whole name of something that was found, with a capital. */
  readonly namesThings: boolean
  /** How telling each stem of the text is. */
  readonly weights: ReadonlyMap<string, number>
  /** Looks for these stems in a passage. */
  readonly skim: ReturnType<typeof wordSkimmer>
}

export function rankByWords(
  db: DatabaseSync,
  search: ParsedSearch,
  { filter, limit, most = leastRanked(search) }: Pick<SearchQuery, 'filter' | 'limit'> & { readonly most?: number },
  all: () => number,
  stages?: RankingStages,
): Ranking {
  const found = findPassages(db, search, filterSql(filter), { all: all(), most: Math.max(most, 2 * limit) })
  const weights = new Map([...search.stems.keys()].map((stem) => [stem, found.idf(stem)]))
  return { found, ...rankPassages(found, search, stages), weights, skim: wordSkimmer(new Set(weights.keys())) }
}

function leastRanked(search: ParsedSearch): number {
  return isShort(search) ? NAMES_RANKED : LEAST_RANKED
}

/** An entity is as good as its best passage. */
function bestPassages({ ranked }: Ranking, limit: number): readonly Ranked[] {
  const best = new Map<number, Ranked>()
  for (const place of ranked) {
    if (!best.has(place.node)) best.set(place.node, place)
    if (best.size === limit) break
  }
  return [...best.values()]
}

/** A hit as it shows its passage. */
export function showHit(
  db: DatabaseSync,
  { found, weights, skim }: Ranking,
  { at, node, score }: Ranked,
): readonly SearchHit[] {
  const { text = '', facts = '' } = found.passages[at] ?? {}
  return entityHit(db, node, score, cutSnippet(text.trim() === '' ? facts : text, weights, skim))
}

/** What was not ranked by words: nodes and their scores, in order. */
export function scoredHits(db: DatabaseSync, places: readonly { readonly node: number; readonly score: number }[]) {
  const own = db.prepare('SELECT text, facts FROM passages WHERE id = ?')
  return places.flatMap(({ node, score }) => {
    const { text, facts } = own.get(node * PASSAGE_SPAN) ?? {}
    return entityHit(db, node, score, cutSnippet(String(text || facts || ''), new Map()))
  })
}

/** Entities of a filter, newest first; those without a time come last. */
function newestHits(db: DatabaseSync, { condition, values }: FilterSql, limit: number): readonly SearchHit[] {
  const rows = db
    .prepare(`SELECT e.node FROM entities e WHERE ${condition} ORDER BY e.at DESC, e.entity_id LIMIT ${limit}`)
    .all(...values)
  return scoredHits(
    db,
    rows.map(({ node }) => ({ node: Number(node), score: 0 })),
  )
}

function entityHit(db: DatabaseSync, node: number, score: number, snippet: string): readonly SearchHit[] {
  const row = prepared(
    db,
    'SELECT entity_id, label, type, ref, at FROM entities WHERE node = ? AND hash IS NOT NULL',
  ).get(node)
  if (row === undefined) return []
  const { entity_id, label, type, ref, at } = row
  return [
    {
      entity_id: String(entity_id),
      score,
      ...(label === null ? {} : { label: String(label) }),
      type: String(type),
      ...(snippet === '' ? {} : { snippet_text: snippet }),
      ...(ref === null ? {} : { objectstore_ref: String(ref) }),
      ...(at === null ? {} : { time: new Date(Number(at)).toISOString() }),
    },
  ]
}

/** Ids of what has a name, or whose id ends in a part; in text order. */
export function lookUpIds(db: DatabaseSync, by: Parameters<SearchIndex['lookup']>[1], text: string): readonly string[] {
  return LOOKUPS[by](db, text).map(({ entity_id }) => String(entity_id))
}

const LOOKUPS = {
  suffix: (db: DatabaseSync, text: string) => bySuffix(db, text.trim()),
  label: (db: DatabaseSync, text: string) => byName(db, '0', lookupName(text)),
  alias: (db: DatabaseSync, text: string) => byName(db, '1', lookupName(text)),
  written: (db: DatabaseSync, text: string) => byName(db, '0, 1, 2', writtenName(text)),
}

function byName(db: DatabaseSync, kinds: '0' | '1' | '0, 1, 2', name: string) {
  return db
    .prepare(
      `SELECT DISTINCT e.entity_id FROM names n JOIN entities e USING (node) WHERE n.name = ? AND n.alias IN (${kinds})
       ORDER BY e.entity_id LIMIT ?`,
    )
    .all(name, LOOKUP_LIMIT)
}

/** The segments from the last to the first: what ends in `type.instance` begins with `instance.type` there. */
function bySuffix(db: DatabaseSync, part: string) {
  const start = part.split('.').toReversed().join('.')
  // '/' comes after '.', and no id has it.
  // Found first and sorted then: to sort by id, SQLite would read every entity.
  return db
    .prepare(
      `SELECT entity_id FROM (
         SELECT entity_id FROM entities WHERE hash IS NOT NULL AND reversed = ?1
         UNION ALL
         SELECT entity_id FROM entities WHERE hash IS NOT NULL AND reversed > ?2 AND reversed < ?3)
       ORDER BY entity_id LIMIT ?4`,
    )
    .all(start, `${start}.`, `${start}/`, LOOKUP_LIMIT)
}
