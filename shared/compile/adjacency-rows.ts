import { Fault } from '../errors.ts'

/** Lists of numbers, one behind the other: row v is `items` from `starts[v]` up to, not including, `starts[v + 1]`. */
export interface Rows {
  readonly starts: number[]
  readonly items: number[]
}

export function rowsOf(lists: readonly (readonly number[])[]): Rows {
  const starts = zeros(lists.length + 1)
  let size = 0
  for (let v = 0; v < lists.length; v++) {
    size += lists[v]?.length ?? 0
    starts[v + 1] = size
  }
  const items = zeros(size)
  let end = 0
  for (let v = 0; v < lists.length; v++) {
    const list = lists[v] ?? []
    for (let i = 0; i < list.length; i++) items[end++] = list[i] ?? 0
  }
  return { starts, items }
}

export function rowSize({ starts }: Rows, v: number): number {
  return at(starts, v + 1) - at(starts, v)
}

/** Row v as a list of its own. */
export function itemsOf({ starts, items }: Rows, v: number): number[] {
  const from = at(starts, v)
  const list = new Array<number>(at(starts, v + 1) - from)
  for (let i = 0; i < list.length; i++) list[i] = at(items, from + i)
  return list
}

/** Copied, not filled: that takes half the time for the dozens of short lists a small graph needs. */
const ZEROS: readonly number[] = new Array<number>(512).fill(0)

/** A list of so many zeros, to be written over. */
export function zeros(length: number): number[] {
  return length <= ZEROS.length ? ZEROS.slice(0, length) : new Array<number>(length).fill(0)
}

/** The number at an index that is there. */
export function at(list: readonly number[], index: number): number {
  return list[index] ?? 0
}

/** The rows turned round: row u lists, ascending, the rows that hold u. Items are below the number of rows. */
export function transposeRows({ starts, items }: Rows): Rows {
  const size = starts.length - 1
  const turned = zeros(size + 1)
  const places = zeros(items.length)
  for (let i = 0; i < items.length; i++) turned[at(items, i) + 1] = at(turned, at(items, i) + 1) + 1
  for (let u = 0; u < size; u++) turned[u + 1] = at(turned, u + 1) + at(turned, u)
  const next = turned.slice()
  for (let v = 0; v < size; v++) {
    const end = at(starts, v + 1)
    for (let i = at(starts, v); i < end; i++) {
      const u = at(items, i)
      const place = at(next, u)
      places[place] = v
      next[u] = place + 1
    }
  }
  return { starts: turned, items: places }
}

/** All numbers, each after those of its row in `upstream`, first come first served; what is on a cycle is left out. */
export function kahnOrder(upstream: Rows, { starts, items }: Rows): number[] {
  const size = starts.length - 1
  const order = zeros(size)
  const waiting = zeros(size)
  let known = 0
  for (let v = 0; v < size; v++) {
    waiting[v] = rowSize(upstream, v)
    if (waiting[v] === 0) order[known++] = v
  }
  for (let i = 0; i < known; i++) {
    const u = at(order, i)
    const end = at(starts, u + 1)
    for (let i = at(starts, u); i < end; i++) {
      const v = at(items, i)
      const left = at(waiting, v) - 1
      waiting[v] = left
      if (left === 0) order[known++] = v
    }
  }
  order.length = known
  return order
}

/** A square table of bits, a row for each number below `size`. 10,000 rows take 12.5 MB. */
export interface BitRows {
  readonly words: number
  readonly bits: Words
}

type Words = number[] | Int32Array

/** A large table is allocated outside the heap, in half the memory; for a small one that would take longer than all else. */
const MOST_IN_HEAP = 2_048

export function emptyBitMatrix(size: number): BitRows {
  const words = (size + 31) >>> 5
  const room = size * words
  return { words, bits: room > MOST_IN_HEAP ? new Int32Array(room) : zeros(room) }
}

export function hasBit({ words, bits }: BitRows, row: number, bit: number): boolean {
  return (((bits[row * words + (bit >>> 5)] ?? 0) >>> (bit & 31)) & 1) === 1
}

/**
 * row |= other row + the other row's own bit: with ancestors in the rows, `other` becomes one. Numbers are places in an
 * order: a row has no bit of its own number or a higher one, so half of the table is never touched.
 */
export function addAncestorRow({ words, bits }: BitRows, row: number, other: number): void {
  const to = row * words
  const from = other * words
  const last = other >>> 5
  for (let w = last; w >= 0; w--) bits[to + w] = (bits[to + w] ?? 0) | (bits[from + w] ?? 0)
  bits[to + last] = (bits[to + last] ?? 0) | (1 << (other & 31))
}

/** A graph on plain indexes: `upstream[v]` lists what v waits for; duplicates are allowed. */
export type Upstream = readonly (readonly number[])[]

/**
 * Transitive reduction: drops each edge another path implies (data flows through the store, so such an edge costs
 * nothing to leave out). Nothing in the answer depends on the order the edges came in.
 * Costs (kept edges * n / 32) word operations. The document check has refused cycles before: one here is a Bug.
 * Rows: those nearest in the order come first in each.
 */
export function transitiveReduction(upstream: Upstream): Rows {
  const { order, nearestFirst } = topologicalOrder(upstream)
  // Where nothing waits for two, nothing is implied.
  if (upstream.every((sources) => sources.length < 2)) return nearestFirst
  const { starts, items } = nearestFirst
  const places = positionsIn(order)
  const ancestors = emptyBitMatrix(order.length)
  const ends = zeros(order.length)
  let kept = 0
  for (let place = 0; place < order.length; place++) {
    const v = at(order, place)
    const from = at(starts, v)
    const to = at(starts, v + 1)
    let end = from
    for (let i = from; i < to; i++) {
      const p = at(items, i)
      if (i > from && hasBit(ancestors, place, at(places, p))) continue
      items[end++] = p
      addAncestorRow(ancestors, place, at(places, p))
    }
    ends[v] = end
    kept += end - from
  }
  return kept === items.length ? nearestFirst : withoutGaps(starts, ends, items, kept)
}

function positionsIn(order: number[]): number[] {
  const places = zeros(order.length)
  for (let place = 0; place < order.length; place++) places[at(order, place)] = place
  return places
}

function withoutGaps(starts: number[], ends: number[], items: number[], most: number): Rows {
  const closed: Rows = { starts: zeros(starts.length), items: zeros(most) }
  let size = 0
  for (let v = 0; v < ends.length; v++) {
    const end = at(ends, v)
    for (let i = at(starts, v); i < end; i++) closed.items[size++] = at(items, i)
    closed.starts[v + 1] = size
  }
  return closed
}

interface Order {
  readonly order: number[]
  /** What each waits for, last in the order first. */
  readonly nearestFirst: Rows
}

function topologicalOrder(upstream: Upstream): Order {
  const sources = rowsOf(upstream)
  const downstream = transposeRows(sources)
  const order = kahnOrder(sources, downstream)
  if (order.length < upstream.length) {
    const known = new Set(order)
    const stuck = upstream.findIndex((_, v) => !known.has(v))
    throw new Fault('Bug', 'compile_cycle', `Cannot compile the graph: block index ${stuck} is on or after a cycle.`)
  }
  return { order, nearestFirst: sortNearestFirst(sources, downstream, order) }
}

/** Sorts without comparing: whoever comes last in the order is handed out first. */
function sortNearestFirst({ starts, items }: Rows, downstream: Rows, order: number[]): Rows {
  const next = starts.slice()
  for (let last = order.length - 1; last >= 0; last--) {
    const u = at(order, last)
    const end = at(downstream.starts, u + 1)
    for (let i = at(downstream.starts, u); i < end; i++) {
      const v = at(downstream.items, i)
      const place = at(next, v)
      items[place] = u
      next[v] = place + 1
    }
  }
  return { starts, items }
}
