import { Fault } from '../../../shared/errors.ts'
import {
  type Edge,
  type Entity,
  entityEdges,
  entityHash,
  groupBySubject,
  withTriples,
} from '../../../shared/graph/entity.ts'
import { checkBatch, type EntityOutcome, type GraphStore, WRITE_BATCH } from '../../../shared/graph/graph-store.ts'
import { isLoopEntity } from '../../../shared/research/loop-entity.ts'
import { as, from, headTtl, type Item } from '../run-store/item-encoding.ts'
import { ifAbsent, itemBusyFault, type Terms } from '../run-store/table.ts'
import { noteChange } from './change-log.ts'
import { edgeHintKey, entityKey, entityListKey, type GraphTable } from './graph-table.ts'

/** One entity's part of a call. */
interface Wanted {
  readonly entity_id: string
  /** False: as it was read it needs no write. */
  changes(seen: Item | undefined): boolean
  write(change: EntityChange): Promise<EntityOutcome>
}

/** Entities written at once by one call. */
const PARALLEL = 8

export function entityWritesOn(table: GraphTable): Pick<GraphStore, 'put' | 'addTriples' | 'delete'> {
  return {
    put: (tenant, entities) =>
      writeAll(
        table,
        tenant,
        entities.map((entity) => ({
          entity_id: entity.entity_id,
          changes: (seen) => seen?.h?.S !== entityHash(entity),
          write: (change) => writeEntity(table, change, () => entity),
        })),
      ),
    addTriples: (tenant, triples) =>
      writeAll(
        table,
        tenant,
        [...groupBySubject(triples)].map(([entity_id, added]) => ({
          entity_id,
          changes: () => true,
          write: (change) => writeEntity(table, change, (before: Entity = { entity_id }) => withTriples(before, added)),
        })),
      ),
    delete: (tenant, entity_ids) =>
      writeAll(
        table,
        tenant,
        entity_ids.map((entity_id) => ({
          entity_id,
          changes: (seen) => seen !== undefined,
          write: (change) => dropEntity(table, change),
        })),
      ),
  }
}

/** The change log names what may change before it does, and once more when all is over: a writer who dies is followed. */
async function writeAll(
  table: GraphTable,
  tenant: string,
  wanted: readonly Wanted[],
): Promise<readonly EntityOutcome[]> {
  checkBatch(wanted.length, WRITE_BATCH)
  const ids = [...new Set(wanted.map(({ entity_id }) => entity_id))]
  const found = await table.getAll(ids.map((id) => entityKey(tenant, id)))
  const seen = new Map(found.map((item) => [from.text(item, 'pk'), item]))
  const seenOf = (id: string) => seen.get(entityKey(tenant, id).pk?.S ?? '')
  const changing = wanted.filter(({ entity_id, changes }) => changes(seenOf(entity_id)))
  const note = changing.length === 0 ? undefined : await noteChange(table, tenant, changing)
  const lanes = ids.map((id) => wanted.map((part, at) => ({ part, at })).filter(({ part }) => part.entity_id === id))
  const outcomes = new Map<number, EntityOutcome>()
  const work = async () => {
    for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift()) {
      let first = true
      for (const { part, at } of lane) {
        const before = first ? seenOf(part.entity_id) : await table.get(entityKey(tenant, part.entity_id))
        outcomes.set(at, await told(part, { tenant, entity_id: part.entity_id, seen: before }))
        first = false
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  await note?.end()
  return wanted.flatMap((_, at) => outcomes.get(at) ?? [])
}

/** A failure is of the one entity. */
async function told({ write }: Wanted, change: EntityChange): Promise<EntityOutcome> {
  try {
    return await write(change)
  } catch (cause) {
    if (!(cause instanceof Fault) || cause.name === 'Bug') throw cause
    return { entity_id: change.entity_id, outcome: 'failed', code: cause.code, message: cause.message }
  }
}

/** What a change of one entity starts from: its item as it was read, undefined where it is not there. */
interface EntityChange {
  readonly tenant: string
  readonly entity_id: string
  readonly seen: Item | undefined
}

/**
 * Writes one entity. Hints are laid before the item is put, and taken away after it, each by its writer's mark `w`: at
 * every moment each edge of each item has its hint, whoever dies or is late. A hint too many is of no effect.
 */
async function writeEntity(
  table: GraphTable,
  { tenant, entity_id, seen }: EntityChange,
  change: (before: Entity | undefined) => Entity,
): Promise<EntityOutcome> {
  let before = seen
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const entity = change(before === undefined ? undefined : readEntity(before))
    const hash = entityHash(entity)
    if (before?.h?.S === hash) return { entity_id, outcome: 'unchanged' }
    const mark = table.nonce()
    const kept = keptAsRun(table, entity_id)
    await table.putAll(entityEdges(entity).map((edge) => ({ ...edgeHintKey(tenant, edge), w: as.text(mark), ...kept })))
    const body = { w: as.text(mark), h: as.text(hash), body: as.text(JSON.stringify(entity)) }
    const item = { ...entityKey(tenant, entity_id), ...entityListKey(tenant, entity_id), ...body, ...kept }
    const now = await putIf(table, item, before === undefined ? ifAbsent : isMarked(before))
    if (now?.w?.S === mark) {
      await dropHints(table, tenant, before, entityEdges(entity))
      return { entity_id, outcome: before === undefined ? 'created' : 'updated' }
    }
    before = now
    await table.pause(tries)
  }
  throw itemBusyFault('write an entity', MAX_TRIES)
}

/** What a chain wrote of itself goes when its run does; it writes last at its end. */
function keptAsRun(table: GraphTable, entity_id: string): Item {
  return isLoopEntity(entity_id) ? { ttl: headTtl(new Date(table.now()).toISOString(), table) } : {}
}

/** The item as it is after the try: ours, where it was written by this sending or an earlier one. */
async function putIf(table: GraphTable, item: Item, condition: (terms: Terms) => string): Promise<Item | undefined> {
  const written = await table.put(item, condition)
  if (written.ok) return item
  const { pk = as.text(''), sk = as.text('') } = item
  return written.item ?? (await table.get({ pk, sk }))
}

/** Removes one entity; what others state about it stays theirs. */
async function dropEntity(table: GraphTable, { tenant, entity_id, seen }: EntityChange): Promise<EntityOutcome> {
  let before = seen
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (before === undefined) return { entity_id, outcome: 'absent' }
    const removed = await table.removeIf(entityKey(tenant, entity_id), isMarked(before))
    const now = removed.ok ? undefined : await table.get(entityKey(tenant, entity_id))
    // Sent twice: the first sending may have done it, and its answer was lost.
    if (removed.ok || (now === undefined && removed.sent > 1)) {
      await dropHints(table, tenant, before, [])
      return { entity_id, outcome: 'deleted' }
    }
    before = now
    await table.pause(tries)
  }
  throw itemBusyFault('delete an entity', MAX_TRIES)
}

/** The entity in an item. */
export function readEntity(item: Item): Entity {
  return JSON.parse(from.text(item, 'body'))
}

const MAX_TRIES = 8

/** Hints of `before` but for those that are kept; one that another writer has laid again is his. */
async function dropHints(
  table: GraphTable,
  tenant: string,
  before: Item | undefined,
  kept: readonly Edge[],
): Promise<void> {
  if (before === undefined) return
  const keys = new Set(kept.map(({ predicate, object }) => `${predicate}#${object}`))
  const stale = entityEdges(readEntity(before)).filter(({ predicate, object }) => !keys.has(`${predicate}#${object}`))
  for (let at = 0; at < stale.length; at += PARALLEL) {
    const part = stale.slice(at, at + PARALLEL)
    await Promise.all(part.map((edge) => table.removeIf(edgeHintKey(tenant, edge), isMarked(before))))
  }
}

function isMarked(item: Item): (terms: Terms) => string {
  const mark = as.text(from.text(item, 'w'))
  return ({ path, value }) => `${path('w')} = ${value(mark)}`
}
