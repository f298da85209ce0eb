import type { DatabaseSync } from 'node:sqlite'
import type { Entity } from '../../shared/graph/entity.ts'
import { type GraphChange, OPEN_CHANGE_MS } from '../../shared/graph/graph-changes.ts'
import { BATCH, type GraphStore } from '../../shared/graph/graph-store.ts'
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
  db.prepare('INSERT OR REPLACE INTO index_info (key, value) VALUES (?, ?)').run('as_of', as_of)
  const done = changes.filter(({ ended, at }) => ended || Date.parse(at) < begun - OPEN_CHANGE_MS)
  return { done, changed, as_of, ...(more && last !== undefined ? { next: last.id } : {}) }
}

/** Makes the index say of these entities what the graph says now. Answers whether it said something else before. */
export async function indexEntities(
  db: DatabaseSync,
  { graph, objects, tenant }: Omit<IndexSource, 'clock'>,
  entity_ids: readonly string[],
): Promise<boolean> {
  const writer = indexWriter(db)
  let changed = false
  for (let at = 0; at < entity_ids.length; at += BATCH) {
    const ids = entity_ids.slice(at, at + BATCH)
    const entities = await graph.entities(tenant, ids)
    const fresh = entities.filter((entity) => !writer.has(entity))
    const bodies = await Promise.all(fresh.map((entity) => bodyText(objects, tenant, entity)))
    const there = new Set(entities.map(({ entity_id }) => entity_id))
    const gone = ids.filter((id) => !there.has(id) && writer.knows(id))
    if (fresh.length + gone.length === 0) continue
    changed = true
    inTransaction(db, () => write(writer, fresh, bodies, gone))
  }
  return changed
}

function write(
  writer: IndexWriter,
  fresh: readonly Entity[],
  bodies: readonly string[],
  gone: readonly string[],
): void {
  for (const id of gone) writer.remove(id)
  for (const [at, entity] of fresh.entries()) writer.put(entity, bodies[at] ?? '')
}

function inTransaction(db: DatabaseSync, work: () => void): void {
  db.exec('BEGIN')
  try {
    work()
    db.exec('COMMIT')
  } catch (cause) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw cause
  }
}
