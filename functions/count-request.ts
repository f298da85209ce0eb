import { Fault } from '../shared/errors.ts'
import { type Principal, principalName } from '../shared/principal.ts'
import type { World } from '../shared/world.ts'

const MINUTE_MS = 60_000

/**
 * Counts a request that changes something against its caller's `max_requests_per_min`, by minutes of the clock: Fault
 * LimitExceeded too_many_requests. A store that cannot count lets it pass, since it cannot take the change either, and
 * its own fault says more (docs/adr/0029).
 */
export async function countRequest(
  { runs, settings, clock, log }: Pick<World, 'runs' | 'settings' | 'clock' | 'log'>,
  principal: Principal,
): Promise<void> {
  const cap = settings.safety.max_requests_per_min
  const caller = principalName(principal)
  const now = clock.now()
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS
  // `2026-11-22T05:06`
  const window = new Date(minute).toISOString().slice(0, 16)
  const counted = await runs.countRequest(principal.tenant, caller, window, cap).catch((error: unknown) => {
    log.error('a request was not counted', { caller, error: String(error) })
    return true
  })
  if (counted) return
  const message = `Cannot take more requests of ${caller} in this minute: the safety policy allows ${cap} that change something or check a document (max_requests_per_min). Try again in the next one.`
  throw new Fault('LimitExceeded', 'too_many_requests', message, {
    facts: { caller, max_requests_per_min: cap, retry_after_ms: minute + MINUTE_MS - now },
  })
}
