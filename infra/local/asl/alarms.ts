import type { Clock } from '../../../shared/ports/host.ts'

/** setTimeout takes 2^31-1 ms; a longer one fires at once. */
const LONGEST_MS = 2_147_483_647

export interface Alarm {
  readonly at: number
  ring(): void
  /** Place in the heap; -1 when rung or cancelled. */
  index: number
}

/**
 * All time-outs and waits of a machine on one `clock.delay`: a task costs a heap insert and a removal instead of a
 * timer, and times further than 24.8 days are reached in steps.
 */
export interface Alarms {
  /** Rings at `at` (ms since 1970) or as soon after as the clock allows, never in the same turn. */
  set(at: number, ring: () => void): Alarm
  cancel(alarm: Alarm): void
  /** Lets the pending delay go; alarms still set are forgotten. */
  clear(): void
}

export function createAlarms(clock: Clock): Alarms {
  const heap: Alarm[] = []
  let armed: { readonly at: number; readonly controller: AbortController } | undefined

  const disarm = (): void => {
    armed?.controller.abort()
    armed = undefined
  }
  const arm = (): void => {
    const first = heap[0]
    if (first === undefined || (armed !== undefined && armed.at <= first.at)) return
    disarm()
    const now = clock.now()
    const ms = Math.min(Math.max(first.at - now, 0), LONGEST_MS)
    const mine = { at: now + ms, controller: new AbortController() }
    armed = mine
    clock.delay(ms, mine.controller.signal).then(
      () => (armed === mine ? fire() : undefined),
      () => undefined,
    )
  }
  const fire = (): void => {
    armed = undefined
    const now = clock.now()
    for (let first = heap[0]; first !== undefined && first.at <= now; first = heap[0]) {
      removeAt(heap, first)
      first.ring()
    }
    arm()
  }
  return {
    set(at, ring) {
      const alarm: Alarm = { at, ring, index: heap.length }
      heap.push(alarm)
      rise(heap, alarm)
      arm()
      return alarm
    },
    cancel: (alarm) => removeAt(heap, alarm),
    clear() {
      for (const alarm of heap.splice(0)) alarm.index = -1
      disarm()
    },
  }
}

function removeAt(heap: Alarm[], alarm: Alarm): void {
  const hole = alarm.index
  if (hole < 0) return
  alarm.index = -1
  const last = heap.pop()
  if (last === undefined || last === alarm) return
  putAt(heap, last, hole)
  rise(heap, last)
  sink(heap, last)
}

function rise(heap: Alarm[], alarm: Alarm): void {
  while (alarm.index > 0) {
    const above = heap[(alarm.index - 1) >> 1]
    if (above === undefined || above.at <= alarm.at) return
    const to = above.index
    putAt(heap, above, alarm.index)
    putAt(heap, alarm, to)
  }
}

function sink(heap: Alarm[], alarm: Alarm): void {
  for (;;) {
    const left = heap[2 * alarm.index + 1]
    const right = heap[2 * alarm.index + 2]
    const below = right !== undefined && left !== undefined && right.at < left.at ? right : left
    if (below === undefined || below.at >= alarm.at) return
    const to = below.index
    putAt(heap, below, alarm.index)
    putAt(heap, alarm, to)
  }
}

function putAt(heap: Alarm[], alarm: Alarm, index: number): void {
  heap[index] = alarm
  alarm.index = index
}
