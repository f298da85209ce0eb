import type { RunKey } from './run-store.ts'

/**
 * The end of a run's hash chain, written once where whoever runs the stage can neither change nor delete it before its
 * time (docs/adr/0067). The chain alone does not sign: who can write the table can close another one.
 */
export interface Anchor extends RunKey {
  readonly format: 'sluice-anchor/1'
  /** seq of the event that ends the run, and the hash there. */
  readonly seq: number
  readonly hash: string
  /** How many events the hash is over. */
  readonly events: number
  /** When it was written, by the clock of who wrote it. */
  readonly at: string
}

/** One version of an object below the run's name. A mark of deletion is a version without a body. */
export interface AnchorVersion {
  readonly key: string
  readonly version_id: string
  /** By the clock of the store. */
  readonly written_at: string
  readonly body?: string
  /** Until when nobody can delete it, whatever his rights. */
  readonly locked_until?: string
}

/** The bucket of anchors. */
export interface Anchors {
  /** Puts it, unless there is an object of its name: that one stays. */
  put(anchor: Anchor): Promise<void>
  /** Everything there is of the run, the oldest first. */
  versions(run: RunKey): Promise<readonly AnchorVersion[]>
}

/** What the names of a tenant's anchors begin with. */
export function anchorPrefix(tenant: string): string {
  return `anchors/${tenant}/`
}

export function anchorKey({ tenant, run_id, seq }: RunKey & Pick<Anchor, 'seq'>): string {
  return `${anchorPrefix(tenant)}${run_id}/${seq}`
}
