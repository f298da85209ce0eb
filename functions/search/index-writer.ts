import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Entity, entityHash, isFileList } from '../../shared/graph/entity.ts'
import { BATCH, type GraphChange, type GraphStore, OPEN_CHANGE_MS } from '../../shared/graph/graph-store.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import { isLoopEntity } from '../../shared/research/loop-entity.ts'
import { bodyText } from './body-text.ts'
import { entityRows } from './entity-rows.ts'
import { hasMentionsToFind, mentionFinder } from './find-mentions.ts'
import { imageDropper, indexInfo, PASSAGE_SPAN } from './index-file.ts'
import { linkWriter, rangeOf } from './link-writer.ts'

/** Where an index is made from. */
export interface IndexSource {
  readonly graph: GraphStore
  readonly objects: Pick<ObjectStore, 'get'>
  readonly clock: Pick<Clock, 'now'>
  readonly tenant: string
  /** Names in texts become edges (shared/graph/mentions.ts). */
  readonly links: boolean
  /** Between two transactions: whoever shares this thread has a turn. */
  readonly pause?: () => Promise<void>
}

/** Entries read at once, and entities they may name: an entry names up to 1,000. */
const MOST_CHANGES = 100
const MOST_NAMED = 10_000

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
  const read = await graph.changes(tenant, MOST_CHANGES, after)
  const changes = firstOf(read)
  const more = read.length === MOST_CHANGES || changes.length < read.length
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

/** One at least. */
function firstOf(changes: readonly GraphChange[]): readonly GraphChange[] {
  let named = 0
  return changes.filter(({ entity_ids }, at) => {
    named += entity_ids.length
    return at === 0 || named <= MOST_NAMED
  })
}

/**
 * Makes the index say of these entities what the graph says now; those of chains and imports are left out. Answers whether it said
 * something else before.
 */
async function indexEntities(
  db: DatabaseSync,
  source: Omit<IndexSource, 'clock'>,
  all: readonly string[],
): Promise<boolean> {
  const entity_ids = all.filter((id) => !isLoopEntity(id) && !isFileList(id))
  // A writer makes twenty statements, and whoever searches comes by here.
  if (entity_ids.length === 0) return false
  const writer = indexWriter(db, source.links)
  let changed = false
  for (let at = 0; at < entity_ids.length; at += COMMIT_EACH) {
    const ids = entity_ids.slice(at, at + COMMIT_EACH)
    changed = (await inTransaction(db, () => indexPart(writer, source, ids))) || changed
    await source.pause?.()
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
  if (changed) writer.settle()
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

/** Passages a commit. */
const SEARCHED_EACH = 2_000

/**
 * Finds the names in the texts that were put: before somebody reads, and once for all of them, since each name is looked for
 * in every text. Answers whether there was anything to be found. A file that is closed in a pause keeps the rest for later.
 */
export async function findMentions(db: DatabaseSync, pause?: IndexSource['pause']): Promise<boolean> {
  if (!hasMentionsToFind(db)) return false
  const finder = mentionFinder(db)
  await inTransaction(db, async () => finder.begin())
  let more = true
  while (more && db.isOpen) {
    more = await inTransaction(db, async () => finder.search(SEARCHED_EACH))
    await pause?.()
  }
  return true
}

/** Every entity of the graph: what an index that was lost, or is of another version, is made of. */
export async function indexAll(db: DatabaseSync, source: Omit<IndexSource, 'clock'>): Promise<void> {
  let after: string | undefined
  let gathered: string[] = []
  do {
    const page = await source.graph.list(source.tenant, after)
    gathered.push(...page.entity_ids)
    after = page.next
    if (gathered.length < COMMIT_EACH && after !== undefined) continue
    await indexEntities(db, source, gathered)
    gathered = []
  } while (after !== undefined)
}

/** Puts entities into an open index and takes them out. The caller holds the transaction. */
interface IndexWriter {
  /** Which version of an entity the index has (shared/graph/entity.ts); undefined: none. */
  hashOf(entity_id: string): string | undefined
  /** `body`: text of its body, '' for none. */
  put(entity: Entity, hash: string, body: string): void
  remove(entity_id: string): void
  /** Before the transaction ends. */
  settle(): void
}

export function indexWriter(db: DatabaseSync, withLinks: boolean): IndexWriter {
  const sql = statementsOf(db)
  const links = withLinks ? linkWriter(db) : undefined
  const dropImage = imageDropper(db)
  const nodeOf = (entity_id: string): number => {
    const known = sql.find.get(entity_id)
    if (known !== undefined) return Number(known.node)
    return Number(sql.addNode.run(entity_id, entity_id.split('.').toReversed().join('.')).lastInsertRowid)
  }
  const predicates = new Map<string, number>()
  const predicateOf = (name: string): number => {
    const known = predicates.get(name) ?? Number(sql.predicate.get(name)?.predicate ?? Number.NaN)
    const predicate = Number.isNaN(known) ? Number(sql.addPredicate.run(name).lastInsertRowid) : known
    predicates.set(name, predicate)
    return predicate
  }
  return {
    hashOf: (entity_id) => {
      const hash = sql.find.get(entity_id)?.hash
      return typeof hash === 'string' ? hash : undefined
    },
    put(entity, hash, body) {
      dropImage()
      const known = sql.find.get(entity.entity_id)
      const rows = entityRows(entity, body)
      const node = known === undefined ? addEntity(sql, entity.entity_id, rows, hash) : Number(known.node)
      // Of one that was not there nothing has to go: half of the statements of a first import.
      const isThere = typeof known?.hash === 'string'
      // The edges of before are taken out after the new ones are in, so that nodes both lead to keep their numbers.
      const before = isThere ? sql.edges.all(node).map(({ dst }) => Number(dst)) : []
      if (isThere) clear(sql, node)
      if (known !== undefined) sql.fill.run(...valuesOf(rows, hash), node)
      fill(sql, { node, rows }, { nodeOf, predicateOf })
      links?.put(node, rows.keys)
      for (const dst of before) sql.dropLoneNode.run(dst)
    },
    remove(entity_id) {
      const known = sql.find.get(entity_id)
      if (known === undefined) return
      dropImage()
      const node = Number(known.node)
      const before = sql.edges.all(node).map(({ dst }) => Number(dst))
      links?.remove(node)
      clear(sql, node)
      sql.forget.run(node)
      for (const lone of [...before, node]) sql.dropLoneNode.run(lone)
    },
    settle: () => links?.settle(),
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
    addEntity: prepared(
      `INSERT INTO entities (hash, label, names, type, kind, segment, domain, at, lat, lon, ref, passages, entity_id,
         reversed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
    addEdge: prepared('INSERT OR IGNORE INTO edges (src, predicate, dst) VALUES (?, ?, ?)'),
    dropNames: prepared('DELETE FROM names WHERE node = ?'),
    addName: prepared('INSERT OR IGNORE INTO names (node, alias, name) VALUES (?, ?, ?)'),
    dropStated: prepared('DELETE FROM stated WHERE node = ?'),
    predicate: prepared('SELECT predicate FROM predicates WHERE name = ?'),
    addPredicate: prepared('INSERT INTO predicates (name) VALUES (?)'),
    addStated: prepared('INSERT OR IGNORE INTO stated (node, predicate, object) VALUES (?, ?, ?)'),
    passageIds: prepared('SELECT id FROM passages WHERE id BETWEEN ? AND ?'),
    dropPassage: prepared('DELETE FROM passages WHERE id = ?'),
    dropWords: prepared('DELETE FROM words WHERE rowid = ?'),
    dropMentions: prepared('DELETE FROM mentions WHERE passage BETWEEN ? AND ?'),
    addPassage: prepared('INSERT INTO passages (id, facts, literals, text) VALUES (?, ?, ?, ?)'),
    addWords: prepared('INSERT INTO words (rowid, names, facts, text) VALUES (?, ?, ?, ?)'),
  }
}

function clear(sql: Statements, node: number): void {
  sql.dropEdges.run(node)
  sql.dropNames.run(node)
  sql.dropStated.run(node)
  sql.dropMentions.run(...rangeOf(node))
  for (const { id } of sql.passageIds.all(...rangeOf(node))) {
    sql.dropPassage.run(Number(id))
    sql.dropWords.run(Number(id))
  }
}

type Rows = ReturnType<typeof entityRows>

function addEntity(sql: Statements, entity_id: string, rows: Rows, hash: string): number {
  const reversed = entity_id.split('.').toReversed().join('.')
  return Number(sql.addEntity.run(...valuesOf(rows, hash), entity_id, reversed).lastInsertRowid)
}

/** Its own columns, in the order of `fill` and `addEntity`. */
function valuesOf(rows: Rows, hash: string) {
  const { label, names, type, kind, segment, domain, at, lat, lon, ref, passages } = rows
  return [hash, label, names, type, kind, segment, domain, at, lat, lon, ref, passages.length] as const
}

interface Numbers {
  nodeOf(entity_id: string): number
  predicateOf(name: string): number
}

/** What stands in other tables. */
function fill(
  sql: Statements,
  { node, rows }: { readonly node: number; readonly rows: Rows },
  { nodeOf, predicateOf }: Numbers,
): void {
  const { names, passages, literals, lookups, stated, edges } = rows
  for (const { alias, name } of lookups) sql.addName.run(node, alias, name)
  for (const { predicate, object } of stated) sql.addStated.run(node, predicateOf(predicate), object)
  for (const { predicate, target } of edges) sql.addEdge.run(node, predicateOf(predicate), nodeOf(target))
  for (const [k, { facts, text }] of passages.entries()) {
    const id = node * PASSAGE_SPAN + k
    const texts = k === 0 && literals.length > 0 ? JSON.stringify(literals) : null
    sql.addPassage.run(id, facts === '' ? null : facts, texts, text)
    sql.addWords.run(id, names, facts, text)
  }
}
