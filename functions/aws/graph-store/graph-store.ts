import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { type Edge, type Entity, entityEdges, entityType } from '../../../shared/graph/entity.ts'
import { BATCH, checkBatch, type GraphStore } from '../../../shared/graph/graph-store.ts'
import { type EdgeReader, walkNeighbours } from '../../../shared/graph/walk-neighbours.ts'
import { RUN_INDEXES } from '../../../shared/runs/dynamodb-table.ts'
import type { Core } from '../core.ts'
import { as, from, type Item } from '../run-store/item-encoding.ts'
import { type RunTableOptions, tableClient } from '../run-store/table.ts'
import { changeLogOn, indexManifestsOn } from './change-log.ts'
import {
  edgeHintKey,
  entityKey,
  entityListKey,
  type GraphTable,
  LIST_SHARDS,
  listPartition,
  openGraphTable,
} from './graph-table.ts'
import { entityWritesOn, readEntity } from './writes.ts'

/** The GraphStore port on DynamoDB, in the table the environment names. */
export function openGraphStore(
  { env, clock, ids, settings }: Pick<Core, 'env' | 'clock' | 'ids'> & Partial<Pick<Core, 'settings'>>,
  config: DynamoDBClientConfig = {},
): GraphStore {
  return graphStoreOn({ ...tableClient(env, config), clock, ids }, settings?.safety.retention_days)
}

/**
 * The graph store on a table of the shape of shared/runs/dynamodb-table.ts (docs/adr/0041): no transactions, no counters, no
 * scans; every write is safe to repeat. Faults beside the port's own: Unavailable (throttled, 5xx, network; store_busy).
 */
export function graphStoreOn(options: RunTableOptions, retention_days = 0): GraphStore {
  const table = openGraphTable(options, retention_days)
  return {
    ...entityWritesOn(table),
    ...readsOn(table),
    ...neighboursOn(table),
    ...changeLogOn(table),
    ...indexManifestsOn(table),
  }
}

const RUNS = RUN_INDEXES.runs

function readsOn(table: GraphTable): Pick<GraphStore, 'entity' | 'entities' | 'list'> {
  return {
    async entity(tenant, entity_id) {
      const item = await table.get(entityKey(tenant, entity_id))
      return item === undefined ? undefined : readEntity(item)
    },
    async entities(tenant, entity_ids) {
      checkBatch(entity_ids.length, BATCH)
      const found = await table.getAll([...new Set(entity_ids)].map((id) => entityKey(tenant, id)))
      const byId = new Map(found.map((item) => [readEntity(item).entity_id, readEntity(item)]))
      return entity_ids.flatMap((id) => byId.get(id) ?? [])
    },
    async list(tenant, after = '') {
      const shard = after.slice(0, 1) || (LIST_SHARDS[0] ?? '')
      const last = after.slice(1)
      const page = await table.query({
        index: RUNS.name,
        where: ({ path, value }) => ({
          condition: `${path(RUNS.hash)} = ${value(as.text(listPartition(tenant, shard)))}`,
        }),
        limit: BATCH,
        ...(last === '' ? {} : { after: { ...entityKey(tenant, last), ...entityListKey(tenant, last) } }),
      })
      const next = page.last === undefined ? nextShard(shard) : shard + idOf(page.last)
      return { entity_ids: page.items.map(idOf), ...(next === undefined ? {} : { next }) }
    },
  }
}

function idOf(item: Item): string {
  return from.text(item, RUNS.range)
}

function nextShard(shard: string): string | undefined {
  return LIST_SHARDS[LIST_SHARDS.indexOf(shard) + 1]
}

/** Partitions of hints read at once. */
const PARALLEL = 8

function neighboursOn(table: GraphTable): Pick<GraphStore, 'neighbours'> {
  return { neighbours: (tenant, query) => walkNeighbours(readerOf(table, tenant), query) }
}

/** The reader of one walk: it reads each entity once. */
function readerOf(table: GraphTable, tenant: string): EdgeReader {
  const known = new Map<string, Entity | undefined>()
  const load = async (ids: readonly string[]): Promise<void> => {
    const unknown = [...new Set(ids)].filter((id) => !known.has(id))
    if (unknown.length === 0) return
    const items = await table.getAll(unknown.map((id) => entityKey(tenant, id)))
    for (const id of unknown) known.set(id, undefined)
    for (const item of items) {
      const entity = readEntity(item)
      known.set(entity.entity_id, entity)
    }
  }
  return {
    async edges(ids, direction, predicates, most) {
      if (direction === 'out') {
        await load(ids)
        return ids.flatMap((id) => statedBy(known.get(id), predicates))
      }
      const edges: Edge[] = []
      for (let at = 0; at < ids.length; at += PARALLEL) {
        const part = ids
          .slice(at, at + PARALLEL)
          .map((id) => statedOf(table, { tenant, id, predicates, most: most.each, known, load }))
        edges.push(...(await Promise.all(part)).flat())
        if (edges.length >= most.all) break
      }
      return edges
    },
    async summaries(ids) {
      await load(ids)
      return ids.flatMap((id) => {
        const entity = known.get(id)
        return entity === undefined ? [] : [{ entity_id: id, label: entity.label, type: entityType(entity) }]
      })
    },
  }
}

function statedBy(entity: Entity | undefined, predicates: readonly string[] | undefined): readonly Edge[] {
  if (entity === undefined) return []
  return entityEdges(entity).filter(({ predicate }) => predicates === undefined || predicates.includes(predicate))
}

interface Wanted {
  readonly tenant: string
  readonly id: string
  readonly predicates: readonly string[] | undefined
  readonly most: number
  readonly known: ReadonlyMap<string, Entity | undefined>
  load(ids: readonly string[]): Promise<void>
}

/** Follows the hints of one entity, predicate by predicate in text order, and keeps what their subjects do state. */
async function statedOf(table: GraphTable, wanted: Wanted): Promise<readonly Edge[]> {
  const edges: Edge[] = []
  for (const prefix of wanted.predicates?.toSorted().map((predicate) => `${predicate}#`) ?? ['']) {
    let after: Item | undefined
    do {
      const page: Awaited<ReturnType<GraphTable['query']>> = await hintsOf(table, wanted, prefix, after)
      const hinted = page.items.map((item) => hintedEdge(item, wanted.id))
      await wanted.load(hinted.map(({ subject }) => subject))
      edges.push(...hinted.filter((edge) => statedBy(wanted.known.get(edge.subject), undefined).some(same(edge))))
      after = page.last
    } while (after !== undefined && edges.length < wanted.most)
  }
  return edges.slice(0, wanted.most)
}

function hintsOf(table: GraphTable, { tenant, id, most }: Wanted, prefix: string, after: Item | undefined) {
  const { pk = as.text('') } = edgeHintKey(tenant, { subject: '', predicate: '', object: id })
  return table.query({
    where: ({ path, value }) => ({
      condition: `${path('pk')} = ${value(pk)} AND begins_with(${path('sk')}, ${value(as.text(`I#${prefix}`))})`,
    }),
    limit: most,
    ...(after === undefined ? {} : { after }),
  })
}

function hintedEdge(item: Item, object: string): Edge {
  const [, predicate = '', subject = ''] = from.text(item, 'sk').split('#')
  return { subject, predicate, object }
}

function same(edge: Edge): (other: Edge) => boolean {
  return ({ predicate, object }) => predicate === edge.predicate && object === edge.object
}
