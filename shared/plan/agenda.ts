interface Entry<T> {
  readonly time: number
  readonly order: number
  readonly item: T
}

/** A binary heap, and a plain queue for what is due at once: most steps of a machine take no time. */
export function createAgenda<T>(): Agenda<T> {
  const heap: Entry<T>[] = []
  let due: T[] = []
  let taken = 0
  let now = 0
  let order = 0
  return {
    put(time, item) {
      if (time <= now) due.push(item)
      else push(heap, { time, order: order++, item })
    },
    take() {
      if (taken < due.length) return due[taken++]
      due = []
      taken = 0
      const next = pop(heap)
      if (next === undefined) return undefined
      now = next.time
      return next.item
    },
    now: () => now,
  }
}

function isEarlier<T>(a: Entry<T>, b: Entry<T>): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order)
}

function push<T>(heap: Entry<T>[], entry: Entry<T>): void {
  let at = heap.length
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || !isEarlier(entry, parent)) break
    heap[at] = parent
    at = above
  }
  heap[at] = entry
}

function pop<T>(heap: Entry<T>[]): Entry<T> | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let at = 0
  for (;;) {
    const below = smallerChild(heap, at)
    const child = heap[below]
    if (child === undefined || !isEarlier(child, last)) break
    heap[at] = child
    at = below
  }
  heap[at] = last
  return first
}

function smallerChild<T>(heap: readonly Entry<T>[], at: number): number {
  const left = heap[2 * at + 1]
  const right = heap[2 * at + 2]
  return left !== undefined && right !== undefined && isEarlier(right, left) ? 2 * at + 2 : 2 * at + 1
}

/** What is due in virtual time: earliest first, at one instant in the order it was put there. */
export interface Agenda<T> {
  put(time: number, item: T): void
  /** Moves the clock to the next item; undefined when nothing is left. */
  take(): T | undefined
  now(): number
}
