import type { DatabaseSync } from 'node:sqlite'
import type { SearchHit, SearchQuery } from '../../shared/graph/search-index.ts'
import { filterSql } from './filter-sql.ts'
import { findPassages } from './find-passages.ts'
import { hitsOf, newestHits } from './hits.ts'
import { parseSearch } from './parse-search.ts'
import { rankPassages } from './rank-passages.ts'

/** Passages ranked: what FTS5 has further down does not come up. */
const LEAST_RANKED = 200

/** The best hits of a query, or without words the newest of its filter. `all`: how many passages there are. */
export function searchIn(db: DatabaseSync, query: SearchQuery, all: () => number): readonly SearchHit[] {
  const search = query.text === undefined ? undefined : parseSearch(query.text)
  const filter = filterSql(query.filter)
  if (search === undefined) return newestHits(db, filter, query.limit)
  const most = Math.max(LEAST_RANKED, 2 * query.limit)
  const found = findPassages(db, search, filter, { all: all(), most })
  const ranked = rankPassages(found, search)
  const weights = new Map([...search.stems.keys()].map((stem) => [stem, found.idf(stem)]))
  return hitsOf(db, { found, ranked, weights, limit: query.limit })
}
