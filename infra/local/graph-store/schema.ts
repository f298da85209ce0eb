/**
 * The graph beside the runs. `body` is the entity as JSON, its whole truth; names of entities and predicates are numbers
 * in edges, since a million edges of text would be most of the file.
 */
export const GRAPH_SCHEMA = `
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
