import type { DatabaseSync } from 'node:sqlite'
import type { Edge, Entity } from '../../../shared/graph/entity.ts'
import { BATCH, checkBatch, type GraphStore } from '../../../shared/graph/graph-store.ts'
import { type EdgeReader, walkNeighbours } from '../../../shared/graph/walk-neighbours.ts'
import type { Clock } from '../../../shared/ports/host.ts'
import { transaction } from '../database.ts'
import { query } from '../run-store/query.ts'
import { changeLogOn, indexManifestsOn } from './change-log.ts'
import { entityWritesOn } from './writes.ts'

/** The graph store of the local place, in an open database; makes its tables when they are not there. */
export function openGraphStore(db: DatabaseSync, clock: Pick<Clock, 'now'>): GraphStore {
  transaction(db, () => db.exec(GRAPH_SCHEMA))
  return {
    ...entityWritesOn(db, clock),
    ...readsOn(db),
    ...neighboursOn(db),
    ...changeLogOn(db),
    ...indexManifestsOn(db),
  }
}

function readsOn(db: DatabaseSync): Pick<GraphStore, 'entity' | 'entities' | 'list'> {
  const one = query<{ readonly body: string }>(db, 'SELECT body FROM graph_entities WHERE tenant = ? AND entity_id = ?')
  const page = query<{ readonly entity_id: string }>(
    db,
    'SELECT entity_id FROM graph_entities WHERE tenant = ? AND entity_id > ? ORDER BY entity_id LIMIT ?',
  )
  const read = (tenant: string, entity_id: string): Entity | undefined => {
    const row = one.one(tenant, entity_id)
    return row === undefined ? undefined : JSON.parse(row.body)
  }
  return {
    entity: async (tenant, entity_id) => read(tenant, entity_id),
    entities: async (tenant, entity_ids) => {
      checkBatch(entity_ids.length, BATCH)
      return entity_ids.flatMap((entity_id) => read(tenant, entity_id) ?? [])
    },
    list: async (tenant, after = '') => {
      const entity_ids = page.all(tenant, after, BATCH).map(({ entity_id }) => entity_id)
      const last = entity_ids.at(-1)
      return { entity_ids, ...(entity_ids.length < BATCH || last === undefined ? {} : { next: last }) }
    },
  }
}

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

function neighboursOn(db: DatabaseSync): Pick<GraphStore, 'neighbours'> {
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

/**
 * The graph beside the runs. `body` is the entity as JSON, its whole truth; names of entities and predicates are numbers
 * in edges, since a million edges of text would be most of the file.
 */
const GRAPH_SCHEMA = `
CREATE TABLE IF NOT EXISTS graph_entities (
  tenant TEXT NOT NULL, entity_id TEXT NOT NULL, hash TEXT NOT NULL, label TEXT, type TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (tenant, entity_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS graph_names (
  id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (tenant, name));
CREATE TABLE IF NOT EXISTS graph_edges (
  subject INTEGER NOT NULL, predicate INTEGER NOT NULL, object INTEGER NOT NULL,
  PRIMARY KEY (subject, predicate, object)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS graph_edges_in ON graph_edges (object, predicate, subject);
CREATE TABLE IF NOT EXISTS graph_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, at TEXT NOT NULL, entity_ids TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS graph_manifests (
  tenant TEXT PRIMARY KEY, version INTEGER NOT NULL, ref TEXT NOT NULL, as_of TEXT NOT NULL) WITHOUT ROWID;
`
