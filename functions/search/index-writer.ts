import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Entity, entityHash } from '../../shared/graph/entity.ts'
import { BATCH, type GraphChange, type GraphStore, OPEN_CHANGE_MS } from '../../shared/graph/graph-store.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import { isLoopEntity } from '../../shared/research/loop-entity.ts'
import { bodyText } from './body-text.ts'
import { entityRows } from './entity-rows.ts'
import { indexInfo, PASSAGE_SPAN } from './index-file.ts'

/** Where an index is made from. */
export interface IndexSource {
  readonly graph: GraphStore
  readonly objects: Pick<ObjectStore, 'get'>
  readonly clock: Pick<Clock, 'now'>
  readonly tenant: string
}

/** Entries read at once: each names up to 100 entities. */
const MOST_CHANGES = 100

interface Applied {
  /** Entries that may be dropped once the file is where readers find it. */
  readonly done: readonly GraphChange[]
  /** The last entry looked at, where there may be more. */
  readonly next?: string
  /** The file says something else than before. */
  readonly changed: boolean
  /** Every write answered before this moment (ISO) is in the file. */
  readonly as_of: string
}

/** Brings an open index up to the oldest entries of the change log, or those after one of them. */
export async function applyChanges(db: DatabaseSync, source: IndexSource, after?: string): Promise<Applied> {
  const { graph, clock, tenant } = source
  const begun = clock.now()
  const changes = await graph.changes(tenant, MOST_CHANGES, after)
  const more = changes.length === MOST_CHANGES
  const ids = [...new Set(changes.flatMap(({ entity_ids }) => entity_ids))]
  const changed = await indexEntities(db, source, ids)
  const last = changes.at(-1)
  const reached = more && last !== undefined ? last.at : new Date(begun).toISOString()
  const before = indexInfo(db, 'as_of') ?? ''
  // What was true of an earlier moment stays true.
  const [as_of = reached] = [reached, before].toSorted().toReversed()
  // Not each time somebody asks, or a chain notes what it is asked: it would be a write to the disk.
  if (before === '' || changed) {
    db.prepare('INSERT OR REPLACE INTO index_info (key, value) VALUES (?, ?)').run('as_of', as_of)
  }
  const done = changes.filter(({ ended, at }) => ended || Date.parse(at) < begun - OPEN_CHANGE_MS)
  return { done, changed, as_of, ...(more && last !== undefined ? { next: last.id } : {}) }
}

/**
 * Makes the index say of these entities what the graph says now; chains' own are left out. Answers whether it said
 * something else before.
 */
async function indexEntities(
  db: DatabaseSync,
  source: Omit<IndexSource, 'clock'>,
  all: readonly string[],
): Promise<boolean> {
  const entity_ids = all.filter((id) => !isLoopEntity(id))
  // A writer makes twenty statements, and whoever searches comes by here.
  if (entity_ids.length === 0) return false
  const writer = indexWriter(db)
  let changed = false
  for (let at = 0; at < entity_ids.length; at += COMMIT_EACH) {
    const ids = entity_ids.slice(at, at + COMMIT_EACH)
    changed = (await inTransaction(db, () => indexPart(writer, source, ids))) || changed
  }
  return changed
}

/** Entities a commit: FTS5 writes a piece of index each, and merges pieces later. */
const COMMIT_EACH = 10 * BATCH

async function indexPart(
  writer: IndexWriter,
  { graph, objects, tenant }: Omit<IndexSource, 'clock'>,
  entity_ids: readonly string[],
): Promise<boolean> {
  let changed = false
  for (let at = 0; at < entity_ids.length; at += BATCH) {
    const ids = entity_ids.slice(at, at + BATCH)
    const versions = (await graph.entities(tenant, ids)).map((entity) => ({ entity, hash: entityHash(entity) }))
    const fresh = versions.filter(({ entity, hash }) => writer.hashOf(entity.entity_id) !== hash)
    const bodies = await Promise.all(fresh.map(({ entity }) => bodyText(objects, tenant, entity)))
    const there = new Set(versions.map(({ entity }) => entity.entity_id))
    const gone = ids.filter((id) => !there.has(id) && writer.hashOf(id) !== undefined)
    for (const id of gone) writer.remove(id)
    for (const [n, { entity, hash }] of fresh.entries()) writer.put(entity, hash, bodies[n] ?? '')
    changed ||= fresh.length + gone.length > 0
  }
  return changed
}

/** The connection has one writer, and who reads through it meanwhile waits for him. */
async function inTransaction<T>(db: DatabaseSync, work: () => Promise<T>): Promise<T> {
  db.exec('BEGIN')
  try {
    const answer = await work()
    db.exec('COMMIT')
    return answer
  } catch (cause) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw cause
  }
}

/** Every entity of the graph: what an index that was lost, or is of another version, is made of. */
export async function indexAll(db: DatabaseSync, source: Omit<IndexSource, 'clock'>): Promise<void> {
  let after: string | undefined
  do {
    const page = await source.graph.list(source.tenant, after)
    await indexEntities(db, source, page.entity_ids)
    after = page.next
  } while (after !== undefined)
}

/** Puts entities into an open index and takes them out. The caller holds the transaction. */
interface IndexWriter {
  /** Which version of an entity the index has (shared/graph/entity.ts); undefined: none. */
  hashOf(entity_id: string): string | undefined
  /** `body`: text of its body, '' for none. */
  put(entity: Entity, hash: string, body: string): void
  remove(entity_id: string): void
}

export function indexWriter(db: DatabaseSync): IndexWriter {
  const sql = statementsOf(db)
  const nodeOf = (entity_id: string): number => {
    const known = sql.find.get(entity_id)
    if (known !== undefined) return Number(known.node)
    return Number(sql.addNode.run(entity_id, entity_id.split('.').toReversed().join('.')).lastInsertRowid)
  }
  return {
    hashOf: (entity_id) => {
      const hash = sql.find.get(entity_id)?.hash
      return typeof hash === 'string' ? hash : undefined
    },
    put(entity, hash, body) {
      const node = nodeOf(entity.entity_id)
      // The edges of before are taken out after the new ones are in, so that nodes both lead to keep their numbers.
      const before = sql.edges.all(node).map(({ dst }) => Number(dst))
      clear(sql, node)
      fill(sql, { node, entity, hash, body }, nodeOf)
      for (const dst of before) sql.dropLoneNode.run(dst)
    },
    remove(entity_id) {
      const known = sql.find.get(entity_id)
      if (known === undefined) return
      const node = Number(known.node)
      const before = sql.edges.all(node).map(({ dst }) => Number(dst))
      clear(sql, node)
      sql.forget.run(node)
      for (const lone of [...before, node]) sql.dropLoneNode.run(lone)
    },
  }
}

type Statements = ReturnType<typeof statementsOf>

function statementsOf(db: DatabaseSync) {
  const prepared = (text: string): StatementSync => db.prepare(text)
  return {
    find: prepared('SELECT node, hash FROM entities WHERE entity_id = ?'),
    addNode: prepared('INSERT INTO entities (entity_id, reversed) VALUES (?, ?)'),
    fill: prepared(
      `UPDATE entities SET hash = ?, label = ?, names = ?, type = ?, kind = ?, segment = ?, domain = ?, at = ?, lat = ?,
         lon = ?, ref = ?, passages = ? WHERE node = ?`,
    ),
    forget: prepared(
      `UPDATE entities SET hash = NULL, label = NULL, names = NULL, type = NULL, kind = NULL, segment = NULL,
         domain = NULL, at = NULL, lat = NULL, lon = NULL, ref = NULL, passages = NULL WHERE node = ?`,
    ),
    dropLoneNode: prepared(
      'DELETE FROM entities WHERE node = ?1 AND hash IS NULL AND NOT EXISTS (SELECT 1 FROM edges WHERE dst = ?1)',
    ),
    edges: prepared('SELECT DISTINCT dst FROM edges WHERE src = ?'),
    dropEdges: prepared('DELETE FROM edges WHERE src = ?'),
    addEdge: prepared(
      'INSERT OR IGNORE INTO edges (src, predicate, dst) SELECT ?, predicate, ? FROM predicates WHERE name = ?',
    ),
    dropNames: prepared('DELETE FROM names WHERE node = ?'),
    addName: prepared('INSERT OR IGNORE INTO names (node, alias, name) VALUES (?, ?, ?)'),
    dropStated: prepared('DELETE FROM stated WHERE node = ?'),
    addPredicate: prepared('INSERT OR IGNORE INTO predicates (name) VALUES (?)'),
    addStated: prepared(
      'INSERT OR IGNORE INTO stated (node, predicate, object) SELECT ?, predicate, ? FROM predicates WHERE name = ?',
    ),
    passageIds: prepared('SELECT id FROM passages WHERE id BETWEEN ? AND ?'),
    dropPassage: prepared('DELETE FROM passages WHERE id = ?'),
    dropWords: prepared('DELETE FROM words WHERE rowid = ?'),
    addPassage: prepared('INSERT INTO passages (id, facts, text) VALUES (?, ?, ?)'),
    addWords: prepared('INSERT INTO words (rowid, names, facts, text) VALUES (?, ?, ?, ?)'),
  }
}

function clear(sql: Statements, node: number): void {
  sql.dropEdges.run(node)
  sql.dropNames.run(node)
  sql.dropStated.run(node)
  for (const { id } of sql.passageIds.all(node * PASSAGE_SPAN, node * PASSAGE_SPAN + PASSAGE_SPAN - 1)) {
    sql.dropPassage.run(Number(id))
    sql.dropWords.run(Number(id))
  }
}

interface Version {
  readonly node: number
  readonly entity: Entity
  readonly hash: string
  readonly body: string
}

function fill(sql: Statements, { node, entity, hash, body }: Version, nodeOf: (id: string) => number): void {
  const { passages, lookups, stated, edges, ...rows } = entityRows(entity, body)
  const { label, names, type, kind, segment, domain, at, lat, lon, ref } = rows
  sql.fill.run(hash, label, names, type, kind, segment, domain, at, lat, lon, ref, passages.length, node)
  for (const { alias, name } of lookups) sql.addName.run(node, alias, name)
  for (const { predicate, object } of stated) {
    sql.addPredicate.run(predicate)
    sql.addStated.run(node, object, predicate)
  }
  // Its predicate was stated.
  for (const { predicate, target } of edges) sql.addEdge.run(node, nodeOf(target), predicate)
  for (const [k, { facts, text }] of passages.entries()) {
    const id = node * PASSAGE_SPAN + k
    sql.addPassage.run(id, facts === '' ? null : facts, text)
    sql.addWords.run(id, names, facts, text)
  }
}
