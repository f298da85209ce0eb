import { Fault } from '../../shared/errors.ts'
import type { Clock } from '../../shared/world.ts'

/** What was asked, or Fault Unavailable search_too_slow after `ms`; what comes later is thrown away. */
export async function within<T>(clock: Clock, ms: number, what: string, ask: () => Promise<T>): Promise<T> {
  const answered = new AbortController()
  const late = clock.delay(ms, answered.signal).then(() => {
    throw new Fault('Unavailable', 'search_too_slow', `${what} took longer than ${ms} ms.`)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([ask(), late])
  } finally {
    answered.abort()
  }
}
