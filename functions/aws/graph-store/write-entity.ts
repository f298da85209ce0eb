import { type Edge, edgesOf } from '../../../shared/graph/edge.ts'
import type { Entity } from '../../../shared/graph/entity.ts'
import type { EntityOutcome } from '../../../shared/graph/graph-store.ts'
import { entityHash } from '../../../shared/graph/normal-entity.ts'
import { isLoopEntity } from '../../../shared/research/kickoff-triples.ts'
import { as, from, type Item } from '../run-store/attribute-values.ts'
import { busyItem } from '../run-store/table-fault.ts'
import { ifAbsent } from '../run-store/table-writes.ts'
import type { Terms } from '../run-store/terms.ts'
import { keepHead } from '../run-store/time-to-live.ts'
import { entityKey, hintKey } from './graph-keys.ts'
import type { GraphTable } from './graph-table.ts'
import { listEntry } from './list-entry.ts'

/** What a change of one entity starts from: its item as it was read, undefined where it is not there. */
export interface EntityChange {
  readonly tenant: string
  readonly entity_id: string
  readonly seen: Item | undefined
}

/**
 * Writes one entity. Hints are laid before the item is put, and taken away after it, each by its writer's mark `w`: at
 * every moment each edge of each item has its hint, whoever dies or is late. A hint too many is of no effect.
 */
export async function writeEntity(
  table: GraphTable,
  { tenant, entity_id, seen }: EntityChange,
  change: (before: Entity | undefined) => Entity,
): Promise<EntityOutcome> {
  let before = seen
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const entity = change(before === undefined ? undefined : entityOf(before))
    const hash = entityHash(entity)
    if (before?.h?.S === hash) return { entity_id, outcome: 'unchanged' }
    const mark = table.nonce()
    const kept = keptAsRun(table, entity_id)
    await table.putAll(edgesOf(entity).map((edge) => ({ ...hintKey(tenant, edge), w: as.text(mark), ...kept })))
    const body = { w: as.text(mark), h: as.text(hash), body: as.text(JSON.stringify(entity)) }
    const item = { ...entityKey(tenant, entity_id), ...listEntry(tenant, entity_id), ...body, ...kept }
    const now = await putIf(table, item, before === undefined ? ifAbsent : isMarked(before))
    if (now?.w?.S === mark) {
      await dropHints(table, tenant, before, edgesOf(entity))
      return { entity_id, outcome: before === undefined ? 'created' : 'updated' }
    }
    before = now
    await table.pause(tries)
  }
  throw busyItem('write an entity', MAX_TRIES)
}

/** What a chain wrote of itself goes when its run does; it writes last at its end. */
function keptAsRun(table: GraphTable, entity_id: string): Item {
  return isLoopEntity(entity_id) ? { ttl: keepHead(new Date(table.now()).toISOString(), table) } : {}
}

/** The item as it is after the try: ours, where it was written by this sending or an earlier one. */
async function putIf(table: GraphTable, item: Item, condition: (terms: Terms) => string): Promise<Item | undefined> {
  const written = await table.put(item, condition)
  if (written.ok) return item
  const { pk = as.text(''), sk = as.text('') } = item
  return written.item ?? (await table.get({ pk, sk }))
}

/** Removes one entity; what others state about it stays theirs. */
export async function dropEntity(table: GraphTable, { tenant, entity_id, seen }: EntityChange): Promise<EntityOutcome> {
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
  throw busyItem('delete an entity', MAX_TRIES)
}

/** The entity in an item. */
export function entityOf(item: Item): Entity {
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
  const stale = edgesOf(entityOf(before)).filter(({ predicate, object }) => !keys.has(`${predicate}#${object}`))
  for (let at = 0; at < stale.length; at += PARALLEL) {
    const part = stale.slice(at, at + PARALLEL)
    await Promise.all(part.map((edge) => table.removeIf(hintKey(tenant, edge), isMarked(before))))
  }
}

const PARALLEL = 8

function isMarked(item: Item): (terms: Terms) => string {
  const mark = as.text(from.text(item, 'w'))
  return ({ path, value }) => `${path('w')} = ${value(mark)}`
}
