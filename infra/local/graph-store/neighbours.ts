import type { DatabaseSync } from 'node:sqlite'
import type { Edge } from '../../../shared/graph/edge.ts'
import type { GraphStore } from '../../../shared/graph/graph-store.ts'
import { type EdgeReader, walkNeighbours } from '../../../shared/graph/walk-neighbours.ts'
import { query } from '../run-store/query.ts'

/** Bound as JSON lists, so that one statement serves any number of ids and predicates. */
const EDGES = (near: 'subject' | 'object', far: 'subject' | 'object') => `
  SELECT s.name AS subject, p.name AS predicate, o.name AS object
  FROM graph_names n JOIN graph_edges e ON e.${near} = n.id
    JOIN graph_names s ON s.id = e.subject JOIN graph_names p ON p.id = e.predicate JOIN graph_names o ON o.id = e.object
  WHERE n.tenant = ?1 AND n.name = ?2 AND (?3 IS NULL OR p.name IN (SELECT value FROM json_each(?3)))
    AND EXISTS (SELECT 1 FROM graph_entities x WHERE x.tenant = ?1 AND x.entity_id = ${far === 'subject' ? 's' : 'o'}.name)
  ORDER BY predicate, ${far} LIMIT ?4`

export function neighboursOf(db: DatabaseSync): Pick<GraphStore, 'neighbours'> {
  const edges = { out: query<Edge>(db, EDGES('subject', 'object')), in: query<Edge>(db, EDGES('object', 'subject')) }
  const summary = query<{ readonly entity_id: string; readonly label: string | null; readonly type: string }>(
    db,
    'SELECT entity_id, label, type FROM graph_entities WHERE tenant = ? AND entity_id = ?',
  )
  const readerOf = (tenant: string): EdgeReader => ({
    edges: async (ids, direction, predicates, most) => {
      const wanted = predicates === undefined ? null : JSON.stringify(predicates)
      return ids.flatMap((id) => edges[direction].all(tenant, id, wanted, most).map((edge) => ({ ...edge })))
    },
    summaries: async (ids) =>
      ids.flatMap((id) => {
        const row = summary.one(tenant, id)
        return row === undefined ? [] : [{ ...row, label: row.label ?? undefined }]
      }),
  })
  return { neighbours: (tenant, wanted) => walkNeighbours(readerOf(tenant), wanted) }
}
