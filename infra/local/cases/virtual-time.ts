import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../../shared/ports/host.ts'
import { isLoadingHandlers } from '../host.ts'

/**
 * Time that stands still while anything is done and goes to the next moment somebody waits for when nothing is: a day of
 * waiting takes no time, and no limit is over before what it limits had its turn, however busy the machine is.
 */
export interface VirtualTime {
  readonly clock: Clock
  /** Work that takes real time (a process, a file): the clock stands still until it is done. */
  working<T>(work: () => Promise<T>): Promise<T>
  /** The same port, each use of which is told: whoever uses one is not at rest. */
  watched<Port extends object>(port: Port): Port
  /** Resolves when nothing more happens by itself. */
  rest(): Promise<void>
  /** When the next delay is over; undefined: nobody waits. */
  next(): number | undefined
  /** Moves the clock to that moment; what waited for it goes on. */
  goTo(at: number): void
}

interface Delay {
  readonly at: number
  resolve(): void
}

/** Turns of the event loop without anything new that are taken for rest. */
const QUIET_TURNS = 25
/** Before the clock goes on, real time for what the event loop does not show, in milliseconds. */
const QUIET_MS = 1
/** Of Node's own: files and names under way. */
const BUSY = /^(?:FSReq|FileHandle|GetAddrInfo|ZLib|Zlib)/

export function openVirtualTime(start: number): VirtualTime {
  const delays = new Set<Delay>()
  let now = start
  let under = 0
  /** Changes with everything that is begun or ended here. */
  let stamp = 0
  const quiet = async (): Promise<void> => {
    for (let turns = 0, seen = stamp; turns < QUIET_TURNS; turns += 1) {
      await turn()
      if (under > 0 || isBusy()) await pause(QUIET_MS)
      if (under > 0 || seen !== stamp || isBusy()) {
        turns = 0
        seen = stamp
      }
    }
  }
  return {
    clock: {
      now: () => now,
      delay: (ms, signal) => {
        stamp += 1
        return new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason)
          const stop = () => {
            delays.delete(delay)
            reject(signal?.reason)
          }
          const delay = {
            at: now + Math.max(0, Math.ceil(ms)),
            resolve() {
              signal?.removeEventListener('abort', stop)
              resolve()
            },
          }
          delays.add(delay)
          signal?.addEventListener('abort', stop, { once: true })
        })
      },
    },
    async working(work) {
      under += 1
      stamp += 1
      try {
        return await work()
      } finally {
        under -= 1
        stamp += 1
      }
    },
    watched: (port) =>
      new Proxy(port, {
        get(of, key) {
          stamp += 1
          return Reflect.get(of, key)
        },
      }),
    async rest() {
      for (let seen = -1; seen !== stamp; ) {
        await quiet()
        seen = stamp
        await pause(QUIET_MS)
        await turn()
      }
    },
    next: () => (delays.size === 0 ? undefined : Math.min(...[...delays].map(({ at }) => at))),
    goTo(at) {
      now = Math.max(now, at)
      stamp += 1
      for (const delay of [...delays].filter((one) => one.at <= now).sort((a, b) => a.at - b.at)) {
        delays.delete(delay)
        delay.resolve()
      }
    },
  }
}

/** Files are read, or code is loaded for the first time. */
function isBusy(): boolean {
  return isLoadingHandlers() || process.getActiveResourcesInfo().some((kind) => BUSY.test(kind))
}
