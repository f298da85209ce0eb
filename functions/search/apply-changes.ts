import type { DatabaseSync } from 'node:sqlite'
import { type GraphChange, OPEN_CHANGE_MS } from '../../shared/graph/graph-changes.ts'
import { BATCH, type GraphStore } from '../../shared/graph/graph-store.ts'
import { entityHash } from '../../shared/graph/normal-entity.ts'
import { isLoopEntity } from '../../shared/research/kickoff-triples.ts'
import type { Clock, ObjectStore } from '../../shared/world.ts'
import { bodyText } from './body-text.ts'
import { type IndexWriter, indexWriter } from './index-writer.ts'
import { indexInfo } from './open-index.ts'

/** Where an index is made from. */
export interface IndexSource {
  readonly graph: GraphStore
  readonly objects: Pick<ObjectStore, 'get'>
  readonly clock: Pick<Clock, 'now'>
  readonly tenant: string
}

/** Entries read at once: each names up to 100 entities. */
const MOST_CHANGES = 100

export interface Applied {
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
export async function indexEntities(
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
