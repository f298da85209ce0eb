import type { DatabaseSync } from 'node:sqlite'
import type { Edge } from '../../../shared/graph/edge.ts'
import type { GraphStore } from '../../../shared/graph/graph-store.ts'
import { type EdgeReader, walkNeighbours } from '../../../shared/graph/walk-neighbours.ts'
import { query } from '../run-store/query.ts'

/**
 * Predicates are bound as a JSON list, so that one statement serves any number of them. Edges are put in order first, and
 * whether the other end is an entity is looked up for as many as are wanted: a hub has tens of thousands. A subject
 * always is.
 */
const OUT = `
  WITH met AS MATERIALIZED (
    SELECT p.name AS predicate, f.name AS object
    FROM graph_names n JOIN graph_edges e ON e.subject = n.id
      JOIN graph_names p ON p.id = e.predicate JOIN graph_names f ON f.id = e.object
    WHERE n.tenant = ?1 AND n.name = ?2 AND (?3 IS NULL OR p.name IN (SELECT value FROM json_each(?3)))
    ORDER BY predicate, object)
  SELECT ?2 AS subject, predicate, object FROM met
  WHERE EXISTS (SELECT 1 FROM graph_entities x WHERE x.tenant = ?1 AND x.entity_id = object) LIMIT ?4`
const IN = `
  SELECT f.name AS subject, p.name AS predicate, ?2 AS object
  FROM graph_names n JOIN graph_edges e ON e.object = n.id
    JOIN graph_names p ON p.id = e.predicate JOIN graph_names f ON f.id = e.subject
  WHERE n.tenant = ?1 AND n.name = ?2 AND (?3 IS NULL OR p.name IN (SELECT value FROM json_each(?3)))
  ORDER BY predicate, subject LIMIT ?4`

export function neighboursOf(db: DatabaseSync): Pick<GraphStore, 'neighbours'> {
  const edges = { out: query<Edge>(db, OUT), in: query<Edge>(db, IN) }
  const summary = query<{ readonly entity_id: string; readonly label: string | null; readonly type: string }>(
    db,
    'SELECT entity_id, label, type FROM graph_entities WHERE tenant = ? AND entity_id = ?',
  )
  const readerOf = (tenant: string): EdgeReader => ({
    edges: async (ids, direction, predicates, most) => {
      const wanted = predicates === undefined ? null : JSON.stringify(predicates)
      const found: Edge[] = []
      for (const id of ids) {
        found.push(...edges[direction].all(tenant, id, wanted, most.each).map((edge) => ({ ...edge })))
        if (found.length >= most.all) break
      }
      return found
    },
    summaries: async (ids) =>
      ids.flatMap((id) => {
        const row = summary.one(tenant, id)
        return row === undefined ? [] : [{ ...row, label: row.label ?? undefined }]
      }),
  })
  return { neighbours: (tenant, wanted) => walkNeighbours(readerOf(tenant), wanted) }
}
