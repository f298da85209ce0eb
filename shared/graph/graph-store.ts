import { Fault } from '../errors.ts'
import type { Edge, Entity } from './entity.ts'
import type { Link } from './mentions.ts'
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
 * At most BATCH entities are read and WRITE_BATCH written a call, else Fault LimitExceeded too_many_entities; one entity that fails (its outcome says so)
 * holds up no other. Reads are consistent with every write that was answered before.
 */
export interface GraphStore extends ChangeLog, IndexManifests {
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

/** Entities a call that reads. */
export const BATCH = 100

/** Entities a call that writes: their ids are one entry of the change log, which on AWS is one item of 400 KB. */
export const WRITE_BATCH = 1_000

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
 * What was written until an index has it: a set of work, not a sequence. An entry goes when a published index holds it,
 * so a late or skewed writer is never skipped. Applying an entry reads the entities as they are now, so applying it twice
 * is applying it once.
 */
export interface ChangeLog {
  /** The oldest, at most `limit` (1 to 1,000); of those after the entry of this id, if one is named. */
  changes(tenant: string, limit: number, after?: string): Promise<readonly GraphChange[]>
  /** Takes entries out; one that was ended since it was read stays. */
  dropChanges(tenant: string, changes: readonly GraphChange[]): Promise<void>
}

/** Which index readers open. */
export interface IndexManifests {
  manifest(tenant: string): Promise<IndexManifest | undefined>
  /** Moves the pointer if its version is still `was` (0 = there is none); false: another writer was faster. */
  moveManifest(tenant: string, was: number, next: Omit<IndexManifest, 'version'>): Promise<boolean>
}

/** Longer than any writer lives: a function ends after 15 minutes. */
export const OPEN_CHANGE_MS = 20 * 60_000

/** Fault LimitExceeded too_many_entities. */
export function checkBatch(entities: number, most: number): void {
  if (entities <= most) return
  const message = `Cannot take ${entities} entities in one call: at most ${most} are allowed. Send them in parts.`
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
  /** Edges the search index found in texts, walked after the stated ones of each hop; absent: stated ones only. */
  readonly mentions?: MentionReader
}

/** Edges of texts that leave (`out`) or reach (`in`) each of these entities, at most `each` an entity. */
export type MentionReader = (
  entity_ids: readonly string[],
  direction: 'in' | 'out',
  each: number,
) => Promise<readonly Link[]>

/** An edge by the hop it was met on, 1 the first. Both of its ends are there. */
export type MetEdge = Edge & { readonly depth: number; readonly places?: Link['places'] }

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
