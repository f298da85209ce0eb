import { canonicalJson } from '../text/canonical-json.ts'
import { sha256 } from '../text/hash.ts'
import type { RunEvent } from './event.ts'
import type { RunKey } from './run-store.ts'

/** hash(0): what the chain of every run starts from. */
export const CHAIN_START = '0'.repeat(64)

/** hash(i) = sha256(hash(i-1) + canonical JSON of event i), lower-case hex (docs/invariants.md, "The hash chain"). */
export function chainHash(previous: string, event: RunEvent): string {
  return sha256(previous + canonicalJson(event))
}

/** The hash after the last of these events; `previous` is the hash of the event before the first. */
export function hashAfter(events: readonly RunEvent[], previous = CHAIN_START): string {
  return events.reduce(chainHash, previous)
}

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
