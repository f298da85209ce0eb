import type { Head } from '../runs/head.ts'
import type { EndpointEntry } from './endpoint-entry.ts'

/**
 * The entry once everything up to `seq` is told, passed over or dead; undefined at the end of the run. `failing_since` stays
 * where the endpoint did not take the last of it.
 */
export function entryAfter(
  head: Pick<Head, 'state' | 'seq'>,
  { id, at, endpoint }: EndpointEntry,
  seq: number,
  failing_since?: string,
): EndpointEntry | undefined {
  // Nothing comes after the end of a run.
  if (head.state !== 'running' && seq >= head.seq) return undefined
  const failing = failing_since === undefined ? {} : { failing_since }
  return { id, at, kind: 'endpoint', endpoint, from_seq: seq + 1, ...failing }
}
