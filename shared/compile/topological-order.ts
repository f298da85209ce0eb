import { Fault } from '../errors.ts'
import { at, type Rows, rowSize, rowsOf, transposeRows, zeros } from './adjacency-rows.ts'

interface Order {
  readonly order: number[]
  /** What each waits for, last in the order first. */
  readonly nearestFirst: Rows
}

export function topologicalOrder(upstream: Upstream): Order {
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

/** A graph on plain indexes: `upstream[v]` lists what v waits for; duplicates are allowed. */
export type Upstream = readonly (readonly number[])[]
