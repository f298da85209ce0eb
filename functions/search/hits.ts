import type { DatabaseSync } from 'node:sqlite'
import { cutSnippet } from '../../shared/graph/cut-snippet.ts'
import type { SearchHit } from '../../shared/graph/search-index.ts'
import type { FilterSql } from './filter-sql.ts'
import type { Found } from './find-passages.ts'
import { PASSAGE_SPAN } from './passage-span.ts'
import type { Ranked } from './rank-passages.ts'

interface Ranking {
  readonly found: Found
  readonly ranked: readonly Ranked[]
  readonly weights: ReadonlyMap<string, number>
  readonly limit: number
}

/** An entity is as good as its best passage, and shows it. */
export function hitsOf(db: DatabaseSync, { found, ranked, weights, limit }: Ranking): readonly SearchHit[] {
  const best = new Map<number, Ranked>()
  for (const place of ranked) {
    if (!best.has(place.node)) best.set(place.node, place)
    if (best.size === limit) break
  }
  return [...best.values()].flatMap(({ at, node, score }) => {
    const { text = '', facts = '' } = found.passages[at] ?? {}
    const shown = cutSnippet(text.trim() === '' ? facts : text, weights)
    return hitOf(db, node, score, shown)
  })
}

/** What was not ranked by words: nodes and their scores, in order. */
export function scoredHits(db: DatabaseSync, places: readonly { readonly node: number; readonly score: number }[]) {
  const own = db.prepare('SELECT text, facts FROM passages WHERE id = ?')
  return places.flatMap(({ node, score }) => {
    const { text, facts } = own.get(node * PASSAGE_SPAN) ?? {}
    return hitOf(db, node, score, cutSnippet(String(text || facts || ''), new Map()))
  })
}

/** Entities of a filter, newest first; those without a time come last. */
export function newestHits(db: DatabaseSync, { condition, values }: FilterSql, limit: number): readonly SearchHit[] {
  const rows = db
    .prepare(`SELECT e.node FROM entities e WHERE ${condition} ORDER BY e.at DESC, e.entity_id LIMIT ${limit}`)
    .all(...values)
  return scoredHits(
    db,
    rows.map(({ node }) => ({ node: Number(node), score: 0 })),
  )
}

function hitOf(db: DatabaseSync, node: number, score: number, snippet: string): readonly SearchHit[] {
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
