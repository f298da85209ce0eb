import { Fault } from '../errors.ts'
import type { Edge } from './entity.ts'
import type { MentionReader, MetEdge, Neighbourhood, NeighbourQuery } from './graph-store.ts'
import type { Link } from './mentions.ts'
import { isDerived } from './triple.ts'

/** Fault InvalidInput bad_neighbour_query, naming the limit. */
function checkNeighbourQuery({ depth, limit, predicates = [] }: NeighbourQuery): void {
  const wrong = [
    ...(Number.isInteger(depth) && depth >= 1 && depth <= 3 ? [] : [`depth is ${depth}, allowed are 1 to 3`]),
    ...(Number.isInteger(limit) && limit >= 1 && limit <= 1_000 ? [] : [`limit is ${limit}, allowed are 1 to 1000`]),
    ...(predicates.length <= 20 ? [] : [`it has ${predicates.length} predicates, at most 20 are allowed`]),
  ]
  if (wrong.length === 0) return
  throw new Fault('InvalidInput', 'bad_neighbour_query', `Cannot look for neighbours: ${wrong.join('; ')}.`)
}

/** What a store reads for a walk. */
export interface EdgeReader {
  /**
   * Edges that leave (`out`) or reach (`in`) each of these, by id, then predicate, then the other end, in text order. Of
   * `in`, whose other ends are always there, at most `each` an id; of `out` all: some may lead nowhere. A reader that
   * leaves those out may stop at `all` edges.
   */
  edges(
    ids: readonly string[],
    direction: 'in' | 'out',
    predicates: readonly string[] | undefined,
    most: { readonly each: number; readonly all: number },
  ): Promise<readonly Edge[]>
  /** Those that are there. */
  summaries(ids: readonly string[]): Promise<readonly Summary[]>
}

interface Summary {
  readonly entity_id: string
  readonly label?: string | undefined
  readonly type: string
}

/** Entities one hop goes on from: a walk over hubs would read the whole graph. */
const MOST_EXPANDED = 200

interface Walk {
  readonly edges: Map<string, MetEdge>
  readonly met: Map<string, Summary & { readonly depth: number }>
  truncated: boolean
}

/** Breadth first from one entity, hop by hop, over what both stores read alike. */
export async function walkNeighbours(reader: EdgeReader, query: NeighbourQuery): Promise<Neighbourhood> {
  checkNeighbourQuery(query)
  const [start] = await reader.summaries([query.entity_id])
  if (start === undefined) return { edges: [], entities: [], truncated: false }
  const walk: Walk = { edges: new Map(), met: new Map([[start.entity_id, { ...start, depth: 0 }]]), truncated: false }
  let frontier: readonly string[] = [start.entity_id]
  for (let depth = 1; depth <= query.depth && frontier.length > 0 && walk.edges.size < query.limit; depth += 1) {
    if (frontier.length > MOST_EXPANDED) walk.truncated = true
    frontier = await walkHop(reader, walk, query, frontier.slice(0, MOST_EXPANDED), depth)
  }
  const entities = [...walk.met.values()]
    .filter(({ depth }) => depth > 0)
    .map(({ entity_id, label, type, depth }) => ({ entity_id, ...(label === undefined ? {} : { label }), type, depth }))
  return { edges: [...walk.edges.values()], entities, truncated: walk.truncated }
}

/** Answers the entities met for the first time, in text order. */
async function walkHop(
  reader: EdgeReader,
  walk: Walk,
  { direction, predicates, limit, mentions }: NeighbourQuery,
  from: readonly string[],
  depth: number,
): Promise<readonly string[]> {
  const ways = direction === 'both' ? (['out', 'in'] as const) : [direction]
  // One more than there is room for, beside those that were met before.
  const most = { each: limit + 1, all: walk.edges.size + limit + 1 }
  const stated = ways.map((way) => reader.edges(from, way, predicates, most))
  const named = mentions === undefined ? [] : ways.map((way) => namedEdges(mentions, from, way, most.each, predicates))
  const found = await Promise.all([...stated, ...named])
  const edges = found.flat().filter((edge) => !walk.edges.has(edgeKey(edge)))
  const ends = new Set(edges.flatMap(({ subject, object }) => [subject, object]))
  const unmet = [...ends].filter((id) => !walk.met.has(id)).toSorted()
  const there = new Map((await reader.summaries(unmet)).map((summary) => [summary.entity_id, summary]))
  const connected = edges.filter(({ subject, object }) =>
    [subject, object].every((id) => walk.met.has(id) || there.has(id)),
  )
  const taken = connected.filter((edge) => takeEdge(walk, edge, depth, limit))
  const fresh = new Set(taken.flatMap(({ subject, object }) => [subject, object]).filter((id) => !walk.met.has(id)))
  const sorted = [...fresh].toSorted()
  for (const id of sorted) {
    const summary = there.get(id)
    if (summary !== undefined) walk.met.set(id, { ...summary, depth })
  }
  return sorted
}

async function namedEdges(
  mentions: MentionReader,
  from: readonly string[],
  way: 'in' | 'out',
  each: number,
  predicates: readonly string[] | undefined,
): Promise<readonly Link[]> {
  if (predicates !== undefined && !predicates.some(isDerived)) return []
  const links = await mentions(from, way, each)
  return predicates === undefined ? links : links.filter(({ predicate }) => predicates.includes(predicate))
}

/** False: there is no room for it. */
function takeEdge(walk: Walk, edge: Edge, depth: number, limit: number): boolean {
  if (walk.edges.has(edgeKey(edge))) return true
  if (walk.edges.size === limit) {
    walk.truncated = true
    return false
  }
  walk.edges.set(edgeKey(edge), { ...edge, depth })
  return true
}

function edgeKey({ subject, predicate, object }: Edge): string {
  return `${subject}#${predicate}#${object}`
}
