import { systemClock } from '../../infra/local/clock-and-log.ts'
import type { Clock } from '../../shared/ports/host.ts'

/** A clock that goes a minute a second once it is hurried: what the outbox still owes is looked at once a minute. */
export interface HastyClock {
  readonly clock: Clock
  hurry(): void
  /** Goes as any other again. */
  rest(): void
}

export function createHastyClock(): HastyClock {
  let ahead = 0
  let minutes: NodeJS.Timeout | undefined
  return {
    clock: { now: () => Date.now() + ahead, delay: systemClock.delay },
    hurry() {
      minutes = setInterval(() => {
        ahead += 60_000
      }, 1_000)
    },
    rest: () => clearInterval(minutes),
  }
}
