/** When a provider is left alone, and for how long. */
export interface BreakerPolicy {
  /** So many failures in a row, the first of them at most a minute ago. */
  readonly failures: number
  readonly open_ms: number
}

/** Of providers whose settings say nothing else. */
export const BREAKER: BreakerPolicy = { failures: 5, open_ms: 30_000 }

/**
 * `open`: nobody is let through until then. `probing`: one call was let through to see; should nothing be heard of it,
 * the next is let through at `until`.
 */
export type Breaker =
  | { readonly state: 'closed'; readonly failed: number; readonly since: number }
  | { readonly state: 'open'; readonly until: number }
  | { readonly state: 'probing'; readonly until: number }

/** `away`: it cannot be reached or does not answer. `unknown`: the call ended before that could be seen. */
export type CallOutcome = 'answered' | 'away' | 'unknown'

type Admission =
  | { readonly admitted: true; readonly next: Breaker | undefined }
  | { readonly admitted: false; readonly retry_after_ms: number }

/** Failures further apart than this are not in a row: a provider that fails once an hour is there. */
const ROW_MS = 60_000

/** Whether a call may be made now; undefined = nothing is known yet. */
export function admitCall(breaker: Breaker | undefined, { open_ms }: BreakerPolicy, now: number): Admission {
  if (breaker === undefined || breaker.state === 'closed') return { admitted: true, next: breaker }
  if (now < breaker.until) return { admitted: false, retry_after_ms: Math.max(1, Math.ceil(breaker.until - now)) }
  return { admitted: true, next: { state: 'probing', until: now + open_ms } }
}

/**
 * What a call's outcome makes of it. Any answer closes it, a late one too: the provider is there. While it is open, a
 * late failure of a call made before changes nothing.
 */
export function breakerAfter(
  breaker: Breaker | undefined,
  outcome: CallOutcome,
  { failures, open_ms }: BreakerPolicy,
  now: number,
): Breaker | undefined {
  if (outcome === 'answered') return undefined
  if (breaker !== undefined && breaker.state !== 'closed') {
    if (breaker.state === 'open') return breaker
    // A probe that was given up says nothing: the next call is one.
    return { state: 'open', until: outcome === 'away' ? now + open_ms : now }
  }
  if (outcome === 'unknown') return breaker
  const row = breaker !== undefined && now - breaker.since <= ROW_MS ? breaker : { failed: 0, since: now }
  if (row.failed + 1 >= failures) return { state: 'open', until: now + open_ms }
  return { state: 'closed', failed: row.failed + 1, since: row.since }
}
