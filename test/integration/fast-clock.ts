import { onTestFinished } from 'vitest'
import type { Clock } from '../../shared/ports/host.ts'

/** The most that counts between two turns of the event loop. */
const LONGEST_MS = 2

interface Wait {
  /** In milliseconds of own time. */
  readonly due: number
  resolve(): void
}

const waits = new Set<Wait>()
let users = 0
let own = 0
let timer: NodeJS.Timeout | undefined

/**
 * A clock of the test under way that goes `times` as fast as this process: it counts what its event loop can use. While
 * the machine is busy with others, or this process with itself, time stands still here, so that no limit is over before
 * what it limits had its turns. Delays of a test that is over never end.
 */
export function fastClock(times: number): Clock {
  const { clock, stop } = openFastClock(times)
  onTestFinished(stop)
  return clock
}

/** The same for several tests; it goes until it is stopped. */
export function openFastClock(times: number): { readonly clock: Clock; stop(): void } {
  const zero = Date.now()
  const from = own
  users += 1
  timer ??= startTicking()
  const now = () => Math.floor(zero + (own - from) * times)
  return { clock: { now, delay: (ms, signal) => delay(ms / times, signal) }, stop }
}

function stop(): void {
  users -= 1
  if (users > 0) return
  clearInterval(timer)
  timer = undefined
}

function startTicking(): NodeJS.Timeout {
  let seen = performance.now()
  return setInterval(() => {
    const at = performance.now()
    own += Math.min(at - seen, LONGEST_MS)
    seen = at
    const due = [...waits].filter((wait) => wait.due <= own).sort((a, b) => a.due - b.due)
    for (const wait of due) {
      waits.delete(wait)
      wait.resolve()
    }
  }, 1)
}

function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const leave = () => {
      waits.delete(wait)
      reject(signal?.reason)
    }
    const wait: Wait = {
      due: own + ms,
      resolve() {
        signal?.removeEventListener('abort', leave)
        resolve()
      },
    }
    waits.add(wait)
    signal?.addEventListener('abort', leave, { once: true })
  })
}
