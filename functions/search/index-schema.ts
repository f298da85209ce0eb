/** 'SlcI' in the file's header. */
export const INDEX_APPLICATION_ID = 0x536c6349
/** Raised when a table, a tokenizer or what is put into a column changes: an index of another version is made anew. */
export const INDEX_VERSION = 2

/**
 * The index of one tenant's graph. An entity is a number (`node`) in here. One that is only led to has a node and no
 * hash; it goes with the last edge to it.
 * A passage's id is node * PASSAGE_SPAN + k: 0 what the entity says of itself (its snippet, and facts: what it states, in
 * words), 1.. its body. `words` has no content of its own: ranking reads `passages`.
 * `stated.object` is the first 48 bits of the sha256 of the object's text: lookups need equality only, and a
 * million texts would be most of the file.
 */
export const INDEX_SCHEMA = `
CREATE TABLE index_info (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entities (
  node INTEGER PRIMARY KEY, entity_id TEXT NOT NULL UNIQUE, reversed TEXT NOT NULL, hash TEXT, label TEXT, names TEXT,
  type TEXT, kind TEXT, segment TEXT, domain TEXT, at INTEGER, lat REAL, lon REAL, ref TEXT, passages INTEGER);
CREATE INDEX entities_reversed ON entities (reversed) WHERE hash IS NOT NULL;
CREATE INDEX entities_newest ON entities (at DESC, entity_id);
CREATE INDEX entities_place ON entities (lat, lon) WHERE lat IS NOT NULL;
CREATE TABLE passages (id INTEGER PRIMARY KEY, facts TEXT, text TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (
  names, facts, text, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE word_counts USING fts5vocab (words, row);
CREATE TABLE names (
  node INTEGER NOT NULL, alias INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (node, alias, name)) WITHOUT ROWID;
CREATE INDEX names_name ON names (name);
CREATE TABLE predicates (predicate INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE stated (
  node INTEGER NOT NULL, predicate INTEGER NOT NULL, object INTEGER NOT NULL,
  PRIMARY KEY (node, predicate, object)) WITHOUT ROWID;
CREATE INDEX stated_object ON stated (predicate, object);
CREATE TABLE edges (
  src INTEGER NOT NULL, predicate INTEGER NOT NULL, dst INTEGER NOT NULL,
  PRIMARY KEY (src, predicate, dst)) WITHOUT ROWID;
CREATE INDEX edges_dst ON edges (dst);
`
