import { Fault } from '../errors.ts'
import type { Edge } from './edge.ts'
import type { Entity } from './entity.ts'

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
export type MetEdge = Edge & { readonly depth: number }

export interface Neighbourhood {
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
export function checkNeighbourQuery({ depth, limit, predicates = [] }: NeighbourQuery): void {
  const wrong = [
    ...(Number.isInteger(depth) && depth >= 1 && depth <= 3 ? [] : [`depth is ${depth}, allowed are 1 to 3`]),
    ...(Number.isInteger(limit) && limit >= 1 && limit <= 1_000 ? [] : [`limit is ${limit}, allowed are 1 to 1000`]),
    ...(predicates.length <= 20 ? [] : [`it has ${predicates.length} predicates, at most 20 are allowed`]),
  ]
  if (wrong.length === 0) return
  throw new Fault('InvalidInput', 'bad_neighbour_query', `Cannot look for neighbours: ${wrong.join('; ')}.`)
}
