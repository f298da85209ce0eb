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
