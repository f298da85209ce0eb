import type { RetryPolicy } from '../dag/dag.ts'

/** How many tries a block has in all, and whether the safety policy lowered the number its author wrote. */
export function attemptCap(policy: RetryPolicy, safetyCap: number): { readonly cap: number; readonly capped: boolean } {
  const wanted = Math.max(1, policy.max_attempts)
  return { cap: Math.min(wanted, safetyCap), capped: wanted > safetyCap }
}

/** Why an attempt goes on as another one without a try of its block's `retry` (docs/adr/0009). */
export const NO_TRY: ReadonlySet<string> = new Set(['ATTEMPT_LOST', 'inputs_edited'])

/**
 * Milliseconds before try attempt + 1: none d, linear d*n, exponential d*2^(n-1), capped by max_delay_ms, then full
 * jitter (docs/dag.md, "Retry"). `random` is in [0, 1).
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, random: number): number {
  const growth = { none: 1, linear: attempt, exponential: 2 ** (attempt - 1) }[policy.backoff]
  const delay = Math.min(policy.delay_ms * growth, policy.max_delay_ms)
  return Math.round(policy.jitter === 'full' ? delay * random : delay)
}
