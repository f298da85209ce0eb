import { Fault } from '../errors.ts'
import type { Edge, Entity } from './entity.ts'
import type { Triple } from './triple.ts'

/** What a write of one entity came to. `failed`: nothing of it was written; `code` is a Fault's, and it may be tried again. */
export type EntityOutcome =
  | { readonly entity_id: string; readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted' | 'absent' }
  | { readonly entity_id: string; readonly outcome: 'failed'; readonly code: string; readonly message: string }

/**
 * The knowledge graph of each tenant: entities with what they state. Suite: test/conformance/graph-store-suite.ts.
 *
 * An entity is written whole or not at all, and last writer wins. What it states is its own: an edge can be put before
 * the entity it leads to, leads nowhere until that is there, and again when that is deleted; so the order in which
 * different entities are put or deleted never matters. Entities come as shared/graph/entity.ts answers them.
 * At most BATCH entities a call, else Fault LimitExceeded too_many_entities; one entity that fails (its outcome says so)
 * holds up no other. Reads are consistent with every write that was answered before.
 */
export interface GraphStore extends GraphChanges {
  /** Replaces each; one outcome an item, in order. The same again is `unchanged`; of two in one call the later stays. */
  put(tenant: string, entities: readonly Entity[]): Promise<readonly EntityOutcome[]>
  /**
   * Adds statements to what their subjects state; an entity that is not there is created. One outcome a subject. Fails
   * with entity_too_large past the limits of ENTITY_LIMITS.
   */
  addTriples(tenant: string, triples: readonly Triple[]): Promise<readonly EntityOutcome[]>
  /** Removes entities with all they state, so their edges in both directions. Again: `absent`. */
  delete(tenant: string, entity_ids: readonly string[]): Promise<readonly EntityOutcome[]>
  entity(tenant: string, entity_id: string): Promise<Entity | undefined>
  /** Those that are there, in the order of the ids. At most BATCH. */
  entities(tenant: string, entity_ids: readonly string[]): Promise<readonly Entity[]>
  /** Breadth first, in an order of its own that does not change. Empty for an entity that is not there. */
  neighbours(tenant: string, query: NeighbourQuery): Promise<Neighbourhood>
  /** Ids of every entity, in pages of at most BATCH (some empty) and in no order: for making the index anew. May be a second behind. */
  list(tenant: string, after?: string): Promise<{ readonly entity_ids: readonly string[]; readonly next?: string }>
}

/** Entities a call. */
export const BATCH = 100

/** Entities of one write: what the index has to look at again. */
export interface GraphChange {
  /** Sorts by time. */
  readonly id: string
  readonly entity_ids: readonly string[]
  /** When the write began, ISO. */
  readonly at: string
  /**
   * The write has ended. An entry that is still open may be that of a writer who died: it is applied, and stays until
   * it is older than OPEN_CHANGE_MS.
   */
  readonly ended: boolean
}

/** The snapshot readers open. */
export interface IndexManifest {
  /** 1, 2, 3 .. */
  readonly version: number
  /** Object ref of the index file. */
  readonly ref: string
  /** Every write answered before this moment (ISO) is in it. */
  readonly as_of: string
}

/**
 * What leads from the graph to its index. The log is a set of work, not a sequence: an entry goes when a published index
 * holds it, so a late or skewed writer is never skipped. Applying an entry reads the entities as they are now, so
 * applying it twice is applying it once.
 */
export interface GraphChanges {
  /** The oldest, at most `limit` (1 to 1,000); of those after the entry of this id, if one is named. */
  changes(tenant: string, limit: number, after?: string): Promise<readonly GraphChange[]>
  /** Takes entries out; one that was ended since it was read stays. */
  dropChanges(tenant: string, changes: readonly GraphChange[]): Promise<void>
  manifest(tenant: string): Promise<IndexManifest | undefined>
  /** Moves the pointer if its version is still `was` (0 = there is none); false: another writer was faster. */
  moveManifest(tenant: string, was: number, next: Omit<IndexManifest, 'version'>): Promise<boolean>
}

/** Longer than any writer lives: a function ends after 15 minutes. */
export const OPEN_CHANGE_MS = 20 * 60_000

/** Fault LimitExceeded too_many_entities. */
export function checkBatch(entities: number): void {
  if (entities <= BATCH) return
  const message = `Cannot take ${entities} entities in one call: at most ${BATCH} are allowed. Send them in parts.`
  throw new Fault('LimitExceeded', 'too_many_entities', message)
}

export interface NeighbourQuery {
  readonly entity_id: string
  /** `out`: what it states; `in`: what others state about it. */
  readonly direction: 'in' | 'out' | 'both'
  /** Hops, 1 to 3. */
  readonly depth: number
  /** Only edges of these; absent: of any. At most 20. */
  readonly predicates?: readonly string[]
  /** Edges answered at most, 1 to 1,000. */
  readonly limit: number
}

/** An edge by the hop it was met on, 1 the first. Both of its ends are there. */
type MetEdge = Edge & { readonly depth: number }

interface Neighbourhood {
  readonly edges: readonly MetEdge[]
  /** The entities met, the start left out, by hop and id. */
  readonly entities: readonly (Pick<Entity, 'entity_id' | 'label'> & {
    readonly type: string
    readonly depth: number
  })[]
  /** More edges, or more entities to go on from, than allowed. */
  readonly truncated: boolean
}

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
  { direction, predicates, limit }: NeighbourQuery,
  from: readonly string[],
  depth: number,
): Promise<readonly string[]> {
  const ways = direction === 'both' ? (['out', 'in'] as const) : [direction]
  // One more than there is room for, beside those that were met before.
  const most = { each: limit + 1, all: walk.edges.size + limit + 1 }
  const found = await Promise.all(ways.map((way) => reader.edges(from, way, predicates, most)))
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
