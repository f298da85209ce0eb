import { Fault } from '../errors.ts'
import { addRow, bitRows, hasBit } from './bit-rows.ts'

/** A graph on plain indexes: `upstream[v]` lists what v waits for; duplicates are allowed. */
export type Upstream = readonly (readonly number[])[]

/**
 * Transitive reduction: drops each edge another path implies (data flows through the store, so such an edge costs
 * nothing to leave out). Nothing in the answer depends on the order the edges came in.
 * Costs (kept edges * n / 32) word operations. The document check has refused cycles before: one here is a Bug.
 */
export function reduceTransitively(upstream: Upstream): readonly (readonly number[])[] {
  const ancestors = bitRows(upstream.length)
  const { order, place } = topologicalOrder(upstream)
  const kept: number[][] = upstream.map(() => [])
  for (const v of order) {
    const sources = upstream[v] ?? []
    const nearestFirst = sources.length < 2 ? sources : [...sources].sort((a, b) => (place[b] ?? 0) - (place[a] ?? 0))
    for (const p of nearestFirst) {
      if (hasBit(ancestors, v, p)) continue
      kept[v]?.push(p)
      addRow(ancestors, v, p)
    }
  }
  return kept
}

/** Kahn's order, first come first served; `place[v]` is the position of v in it. */
function topologicalOrder(upstream: Upstream): { order: readonly number[]; place: Uint32Array } {
  const downstream: number[][] = upstream.map(() => [])
  const waiting = upstream.map((sources) => sources.length)
  upstream.forEach((sources, v) => {
    for (const p of sources) downstream[p]?.push(v)
  })
  const order = upstream.flatMap((sources, v) => (sources.length === 0 ? [v] : []))
  const place = new Uint32Array(upstream.length)
  for (let at = 0; at < order.length; at++) {
    const u = order[at] ?? 0
    place[u] = at
    for (const v of downstream[u] ?? []) {
      const left = (waiting[v] ?? 0) - 1
      waiting[v] = left
      if (left === 0) order.push(v)
    }
  }
  if (order.length < upstream.length) {
    const stuck = waiting.findIndex((left) => left > 0)
    throw new Fault('Bug', 'compile_cycle', `Cannot compile the graph: block index ${stuck} is on or after a cycle.`)
  }
  return { order, place }
}
