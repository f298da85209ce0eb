import type { DatabaseSync } from 'node:sqlite'
import { LOOKUP_LIMIT, type SearchIndex } from '../../shared/graph/search-index.ts'
import { lookupName } from './entity-rows.ts'

/** Ids of what has a name, or whose id ends in a part; in text order. */
export function lookUp(db: DatabaseSync, by: Parameters<SearchIndex['lookup']>[1], text: string): readonly string[] {
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
