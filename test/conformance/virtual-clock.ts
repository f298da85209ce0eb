import type { Clock } from '../../shared/ports/host.ts'

/** A clock for tests: time moves only when told, and as setTimeout does it takes at most 2^31-1 ms. */
export interface VirtualClock extends Clock {
  /** Moves on by ms, stopping at every due delay and letting all that follows from it happen. */
  advance(ms: number): Promise<void>
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>
  /** Delays under way. */
  pending(): number
}

interface Timer {
  readonly at: number
  resolve(): void
}

/** Turns of the event loop that make "nothing more will happen by itself" safe enough. */
const TURNS = 12
const LONGEST_MS = 2_147_483_647

export function createVirtualClock(start = Date.parse('2026-01-01T00:00:00Z')): VirtualClock {
  const timers = new Set<Timer>()
  let now = start
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  const advance = async (ms: number): Promise<void> => {
    const end = now + ms
    for (;;) {
      await settle()
      const first = [...timers].sort((a, b) => a.at - b.at)[0]
      if (first === undefined || first.at > end) break
      now = Math.max(now, first.at)
      timers.delete(first)
      first.resolve()
    }
    now = end
    await settle()
  }
  return {
    now: () => now,
    delay: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const timer = { at: now + (ms > LONGEST_MS ? 1 : ms), resolve }
        timers.add(timer)
        signal?.addEventListener('abort', () => {
          if (timers.delete(timer)) reject(signal.reason)
        })
      }),
    advance,
    settle,
    pending: () => timers.size,
  }
}
