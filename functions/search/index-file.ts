import { rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Fault } from '../../shared/errors.ts'

/** Pages kept in memory, KiB: the index of 100,000 entities fits into a function of 512 MB with its file in the page cache. */
const CACHE_KIB = 65_536

/**
 * Opens an index file to write to it, making it when it is new (':memory:' too). undefined: it is of another version, or
 * made with mentions where none are wanted or without, and must be made anew. Fault Unavailable index_unavailable where it
 * is no index or cannot be opened.
 */
export function openIndexToWrite(file: string, links: boolean): DatabaseSync | undefined {
  return opening(file, () => {
    const db = new DatabaseSync(file, { timeout: 5_000 })
    const { application_id, user_version, objects } = headerOf(db)
    if (application_id === 0 && objects === 0) {
      db.exec(
        `PRAGMA application_id = ${INDEX_APPLICATION_ID}; PRAGMA user_version = ${versionOf(links)}; ${INDEX_SCHEMA}`,
      )
    } else if (application_id !== INDEX_APPLICATION_ID) {
      db.close()
      throw unusable(file, 'it is a SQLite file of another program')
    } else if (user_version !== versionOf(links)) {
      db.close()
      return undefined
    }
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`)
    return db
  })
}

/** Opens a snapshot, which nobody changes. undefined: it is of another version. Fault as above. */
export function openIndexToRead(file: string, versions = VERSIONS): DatabaseSync | undefined {
  return opening(file, () => {
    const db = new DatabaseSync(file, { readOnly: true })
    const { application_id, user_version } = headerOf(db)
    if (application_id === INDEX_APPLICATION_ID && versions.includes(user_version)) {
      db.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`)
      return db
    }
    db.close()
    return undefined
  })
}

/** What `index_info` remembers under a key. */
export function indexInfo(db: DatabaseSync, key: string): string | undefined {
  const row = prepared(db, 'SELECT value FROM index_info WHERE key = ?').get(key)
  return typeof row?.value === 'string' ? row.value : undefined
}

/** A statement that each search runs, made once: that takes longer than to find a name. For texts of which there are few. */
export function prepared(db: DatabaseSync, sql: string): StatementSync {
  const known = statements.get(db) ?? new Map<string, StatementSync>()
  statements.set(db, known)
  const statement = known.get(sql) ?? db.prepare(sql)
  known.set(sql, statement)
  return statement
}

const statements = new WeakMap<DatabaseSync, Map<string, StatementSync>>()

interface Header {
  readonly application_id: number
  readonly user_version: number
  readonly objects: number
}

function headerOf(db: DatabaseSync): Header {
  const sql = `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) AS objects
    FROM pragma_application_id, pragma_user_version`
  // The row has exactly the columns the statement names, all integers.
  return db.prepare(sql).get() as unknown as Header
}

function opening<T>(file: string, open: () => T): T {
  try {
    return open()
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw unusable(file, cause instanceof Error ? cause.message : String(cause), cause)
  }
}

function unusable(file: string, seen: string, cause?: unknown): Fault {
  const message = `Cannot open the search index "${file}": ${seen}. Check the disk; an index can be removed, it is made anew from the graph.`
  return new Fault('Unavailable', 'index_unavailable', message, { cause })
}

/** 'SlcI' in the file's header. */
const INDEX_APPLICATION_ID = 0x536c6349
/** Raised when a table, a tokenizer or what is put into a column changes: an index of another version is made anew. */
const INDEX_VERSION = 5
/** Added where texts are not searched for names. */
const WITHOUT_LINKS = 1_000
const versionOf = (links: boolean) => (links ? INDEX_VERSION : INDEX_VERSION + WITHOUT_LINKS)
const VERSIONS = [versionOf(true), versionOf(false)]

/**
 * The index of one tenant's graph. An entity is a number (`node`) in here. One that is only led to has a node and no
 * hash; it goes with the last edge to it.
 * A passage's id is node * PASSAGE_SPAN + k: 0 what the entity says of itself (its snippet, and facts: what it states, in
 * words), 1.. its body. `words` has no content of its own: ranking reads `passages`.
 * `stated.object` is the first 48 bits of the sha256 of the object's text: lookups need equality only, and a
 * million texts would be most of the file.
 * `mentions`: where a name stands first in a passage, UTF-16 units; part 0 is its text, the others are its literals.
 * `graph_image`: what graph-image.ts keeps; empty where something was written since.
 * `new_names`, `unsearched`: what of it is still to be found (find-mentions.ts); both are empty when somebody reads.
 */
const INDEX_SCHEMA = `
CREATE TABLE index_info (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entities (
  node INTEGER PRIMARY KEY, entity_id TEXT NOT NULL UNIQUE, reversed TEXT NOT NULL, hash TEXT, label TEXT, names TEXT,
  type TEXT, kind TEXT, segment TEXT, domain TEXT, at INTEGER, lat REAL, lon REAL, ref TEXT, passages INTEGER);
CREATE INDEX entities_reversed ON entities (reversed) WHERE hash IS NOT NULL;
CREATE INDEX entities_newest ON entities (at DESC, entity_id);
CREATE INDEX entities_place ON entities (lat, lon) WHERE lat IS NOT NULL;
CREATE TABLE passages (id INTEGER PRIMARY KEY, facts TEXT, literals TEXT, text TEXT NOT NULL);
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
CREATE TABLE link_names (name INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
CREATE TABLE named (
  name INTEGER NOT NULL, node INTEGER NOT NULL, written TEXT NOT NULL, PRIMARY KEY (name, node)) WITHOUT ROWID;
CREATE INDEX named_node ON named (node);
CREATE TABLE mentions (
  name INTEGER NOT NULL, passage INTEGER NOT NULL, capital INTEGER NOT NULL, part INTEGER NOT NULL,
  start INTEGER NOT NULL, stop INTEGER NOT NULL, PRIMARY KEY (name, passage)) WITHOUT ROWID;
CREATE INDEX mentions_passage ON mentions (passage);
CREATE TABLE graph_image (part TEXT PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE new_names (name INTEGER PRIMARY KEY);
CREATE TABLE unsearched (passage INTEGER PRIMARY KEY);
`

/** Passages of node n have the ids n * PASSAGE_SPAN + k; shared/graph/cut-passages.ts makes 1,200 at most. */
export const PASSAGE_SPAN = 2_048

/** As many as rows of `words`, whose lengths are a small table of FTS5's own: counting passages would read all texts. */
export function passagesIn(db: DatabaseSync): number {
  return Number(db.prepare('SELECT count(*) AS n FROM words_docsize').get()?.n ?? 0)
}

/** Makes what drops the image of the graph (graph-image.ts). The caller holds the transaction. */
export function imageDropper(db: DatabaseSync): () => void {
  const drop = db.prepare('DELETE FROM graph_image')
  return () => void drop.run()
}

/** Whether this snapshot is an index as it would be made now. `file` is written and removed. */
export function isPresentIndex(snapshot: Uint8Array, file: string, links: boolean): boolean {
  writeFileSync(file, snapshot)
  try {
    const db = openIndexToRead(file, [versionOf(links)])
    db?.close()
    return db !== undefined
  } catch (cause) {
    if (cause instanceof Fault) return false
    throw cause
  } finally {
    rmSync(file, { force: true })
  }
}
