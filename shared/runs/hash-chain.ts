import { sha256 } from '../text/hash.ts'
import { canonicalJson } from '../text/json.ts'
import type { RunEvent } from './event.ts'

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
