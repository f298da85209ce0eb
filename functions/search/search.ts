import type { DatabaseSync } from 'node:sqlite'
import { cutSnippet } from '../../shared/graph/cut-passages.ts'
import { LOOKUP_LIMIT, type SearchHit, type SearchIndex, type SearchQuery } from '../../shared/graph/search-index.ts'
import { lookupName } from './entity-rows.ts'
import { PASSAGE_SPAN } from './index-file.ts'
import { type FilterSql, type Found, filterSql, findPassages, parseSearch } from './passage-query.ts'
import { type Ranked, rankPassages } from './rank-passages.ts'

/** Passages ranked: what FTS5 has further down does not come up. */
const LEAST_RANKED = 200

/** The best hits of a query, or without words the newest of its filter. `all`: how many passages there are. */
export function searchPassages(db: DatabaseSync, query: SearchQuery, all: () => number): readonly SearchHit[] {
  const search = query.text === undefined ? undefined : parseSearch(query.text)
  const filter = filterSql(query.filter)
  if (search === undefined) return newestHits(db, filter, query.limit)
  const most = Math.max(LEAST_RANKED, 2 * query.limit)
  const found = findPassages(db, search, filter, { all: all(), most })
  const ranked = rankPassages(found, search)
  const weights = new Map([...search.stems.keys()].map((stem) => [stem, found.idf(stem)]))
  return passageHits(db, { found, ranked, weights, limit: query.limit })
}

interface Ranking {
  readonly found: Found
  readonly ranked: readonly Ranked[]
  readonly weights: ReadonlyMap<string, number>
  readonly limit: number
}

/** An entity is as good as its best passage, and shows it. */
function passageHits(db: DatabaseSync, { found, ranked, weights, limit }: Ranking): readonly SearchHit[] {
  const best = new Map<number, Ranked>()
  for (const place of ranked) {
    if (!best.has(place.node)) best.set(place.node, place)
    if (best.size === limit) break
  }
  return [...best.values()].flatMap(({ at, node, score }) => {
    const { text = '', facts = '' } = found.passages[at] ?? {}
    const shown = cutSnippet(text.trim() === '' ? facts : text, weights)
    return entityHit(db, node, score, shown)
  })
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
  const row = db
    .prepare('SELECT entity_id, label, type, ref, at FROM entities WHERE node = ? AND hash IS NOT NULL')
    .get(node)
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
  const rows = by === 'suffix' ? bySuffix(db, text.trim()) : byName(db, by === 'alias' ? 1 : 0, lookupName(text))
  return rows.map(({ entity_id }) => String(entity_id))
}

function byName(db: DatabaseSync, alias: 0 | 1, name: string) {
  return db
    .prepare(
      `SELECT e.entity_id FROM names n JOIN entities e USING (node) WHERE n.name = ? AND n.alias = ?
       ORDER BY e.entity_id LIMIT ?`,
    )
    .all(name, alias, LOOKUP_LIMIT)
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
