/** How the last try went, and until when there may be another. Times in milliseconds since 1970. */
export interface FailedTry {
  /** Failed tries of this message in a row, from 1. */
  readonly tries: number
  readonly now: number
  readonly expires: number
  /** What the endpoint asked for by 429 or 503. */
  readonly retry_after_ms?: number | undefined
  /** In [0, 1). */
  readonly dice: number
}

const FIRST_MS = 10_000
const FACTOR = 3
const LONGEST_MS = 14_400_000

/**
 * When a message is tried again: 10 s, 30 s, 90 s, .. up to 4 hours later, each less a random part of up to a half, so
 * that many runs do not come back at once; no sooner than the endpoint asked for; the last time when it expires.
 */
export function retryAt({ tries, now, expires, retry_after_ms = 0, dice }: FailedTry): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * FACTOR ** (tries - 1))
  const wait = Math.max(longest * (1 - dice / 2), retry_after_ms)
  return Math.min(Math.round(now + wait), expires)
}

/** Until when a message is tried: so long after its event, or after the first failure since the endpoint took one last. */
export function expiryOf(at: string, failing_since: string, give_up_sec: number): number {
  return Math.max(Date.parse(at), Date.parse(failing_since)) + give_up_sec * 1_000
}
