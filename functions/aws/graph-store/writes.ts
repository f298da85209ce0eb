import { Fault } from '../../../shared/errors.ts'
import { bySubject, withTriples } from '../../../shared/graph/add-triples.ts'
import { checkBatch } from '../../../shared/graph/check-batch.ts'
import type { Entity } from '../../../shared/graph/entity.ts'
import type { EntityOutcome, GraphStore } from '../../../shared/graph/graph-store.ts'
import { entityHash } from '../../../shared/graph/normal-entity.ts'
import { from, type Item } from '../run-store/attribute-values.ts'
import { noteChange } from './changes.ts'
import { entityKey } from './graph-keys.ts'
import type { GraphTable } from './graph-table.ts'
import { dropEntity, type EntityChange, writeEntity } from './write-entity.ts'

/** One entity's part of a call. */
interface Wanted {
  readonly entity_id: string
  /** False: as it was read it needs no write. */
  changes(seen: Item | undefined): boolean
  write(change: EntityChange): Promise<EntityOutcome>
}

/** Entities written at once by one call. */
const PARALLEL = 8

export function writesOf(table: GraphTable): Pick<GraphStore, 'put' | 'addTriples' | 'delete'> {
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
        [...bySubject(triples)].map(([entity_id, added]) => ({
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
  checkBatch(wanted.length)
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
