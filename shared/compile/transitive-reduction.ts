import { at, type Rows, zeros } from './adjacency-rows.ts'
import { addAncestorRow, emptyBitMatrix, hasBit } from './bit-matrix.ts'
import { topologicalOrder, type Upstream } from './topological-order.ts'

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
