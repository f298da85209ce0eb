import type { Entity } from './entity.ts'
import type { GraphChanges } from './graph-changes.ts'
import type { Neighbourhood, NeighbourQuery } from './neighbours.ts'
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
 * different entities are put or deleted never matters. Entities come as shared/graph/read-entity.ts answers them.
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
