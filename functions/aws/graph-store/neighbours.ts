import { type Edge, edgesOf, typeOf } from '../../../shared/graph/edge.ts'
import type { Entity } from '../../../shared/graph/entity.ts'
import type { GraphStore } from '../../../shared/graph/graph-store.ts'
import { type EdgeReader, walkNeighbours } from '../../../shared/graph/walk-neighbours.ts'
import { as, from, type Item } from '../run-store/attribute-values.ts'
import { entityKey, hintKey } from './graph-keys.ts'
import type { GraphTable } from './graph-table.ts'
import { entityOf } from './write-entity.ts'

/** Partitions of hints read at once. */
const PARALLEL = 8

export function neighboursOf(table: GraphTable): Pick<GraphStore, 'neighbours'> {
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
      const entity = entityOf(item)
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
        return entity === undefined ? [] : [{ entity_id: id, label: entity.label, type: typeOf(entity) }]
      })
    },
  }
}

function statedBy(entity: Entity | undefined, predicates: readonly string[] | undefined): readonly Edge[] {
  if (entity === undefined) return []
  return edgesOf(entity).filter(({ predicate }) => predicates === undefined || predicates.includes(predicate))
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
  const { pk = as.text('') } = hintKey(tenant, { subject: '', predicate: '', object: id })
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
