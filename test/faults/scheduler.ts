import type { Random } from './rng.ts'

interface Timer {
  readonly at: number
  readonly order: number
  ring(): void
  off: boolean
}

/**
 * One thread, one virtual clock. Whoever wants to go on waits for a turn; the scheduler gives turns one at a time, in an
 * order it draws, and moves the clock only when nobody can go on. What happens is no matter of any real clock or timer.
 */
export interface Scheduler {
  now(): number
  /** Turns given so far. */
  readonly steps: number
  turn(): Promise<void>
  /** Resolves after `ms`, rejects with the signal's reason when aborted. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls back after `ms`, in a turn of its own; answers how to call it off. */
  after(ms: number, ring: () => void): () => void
  /** Gives turns until `done` says so; false: nobody has anything to do any more, or it took more than `most` turns. */
  run(done: () => boolean | Promise<boolean>, most: number): Promise<'done' | 'idle' | 'endless'>
}

export function createScheduler(random: Random, start: number): Scheduler {
  const ready: (() => void)[] = []
  const timers = createHeap()
  let now = start
  let steps = 0
  let order = 0

  const after = (ms: number, ring: () => void): (() => void) => {
    const timer: Timer = { at: now + Math.max(0, ms), order: order++, ring, off: false }
    timers.add(timer)
    return () => {
      timer.off = true
    }
  }
  const turn = () => new Promise<void>((resolve) => void ready.push(resolve))
  const delay = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason)
      const stop = () => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = after(Math.min(ms, LONGEST_MS), () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      })
      signal?.addEventListener('abort', stop, { once: true })
    })
  /** Makes the timers due that are next; false: there is none. */
  const moveOn = (): boolean => {
    const first = timers.take()
    if (first === undefined) return false
    now = Math.max(now, first.at)
    ready.push(first.ring)
    for (let next = timers.first(); next !== undefined && next.at <= now; next = timers.first()) {
      ready.push(next.ring)
      timers.take()
    }
    return true
  }
  return {
    now: () => now,
    get steps() {
      return steps
    },
    turn,
    delay,
    after,
    async run(done, most) {
      for (const end = steps + most; steps < end; steps += 1) {
        await settled()
        if (await done()) return 'done'
        if (ready.length === 0 && !moveOn()) return 'idle'
        takeOne(ready, random)()
      }
      return 'endless'
    },
  }
}

/** As setTimeout has it. */
const LONGEST_MS = 2_147_483_647

/**
 * Resolves when whoever had a turn waits again: for a turn, the clock, or nothing. What was left to the next turn of the
 * event loop comes before that: the interpreter breathes so after 64 states, and SQLite commits so when real time is short.
 */
async function settled(): Promise<void> {
  do await new Promise<void>((resolve) => void setImmediate(resolve))
  while (process.getActiveResourcesInfo().includes('Immediate'))
}

function takeOne(ready: (() => void)[], random: Random): () => void {
  const at = ready.length === 1 ? 0 : Math.floor(random() * ready.length)
  const [chosen] = ready.splice(at, 1)
  if (chosen === undefined) throw new Error('no turn to give')
  return chosen
}

/** Timers by time, then by the order they were made in. */
function createHeap() {
  const heap: Timer[] = []
  const isBefore = (a: Timer, b: Timer) => a.at < b.at || (a.at === b.at && a.order < b.order)
  const swap = (i: number, j: number) => {
    const [a, b] = [heap[i], heap[j]]
    if (a === undefined || b === undefined) return
    heap[i] = b
    heap[j] = a
  }
  const rise = (from: number) => {
    for (let i = from; i > 0; ) {
      const above = (i - 1) >> 1
      const [own, other] = [heap[i], heap[above]]
      if (own === undefined || other === undefined || !isBefore(own, other)) return
      swap(i, above)
      i = above
    }
  }
  const sink = () => {
    for (let i = 0; ; ) {
      const children = [2 * i + 1, 2 * i + 2].filter((at) => at < heap.length)
      const least = children.reduce((best, at) => (isBefore(heap[at] as Timer, heap[best] as Timer) ? at : best), i)
      if (least === i) return
      swap(i, least)
      i = least
    }
  }
  const pop = (): Timer | undefined => {
    const [first] = heap
    const last = heap.pop()
    if (first !== undefined && last !== undefined && heap.length > 0) {
      heap[0] = last
      sink()
    }
    return first
  }
  const dropOff = () => {
    while (heap[0]?.off === true) pop()
  }
  return {
    add(timer: Timer) {
      heap.push(timer)
      rise(heap.length - 1)
    },
    first() {
      dropOff()
      return heap[0]
    },
    take() {
      dropOff()
      return pop()
    },
  }
}
