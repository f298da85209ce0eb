/** `upstream[v]` are the indexes of the blocks v waits for. */
export type Upstream = readonly (readonly number[])[]

export interface CriticalPath {
  /** When each block can start at the earliest: when the last of those it waits for has ended. */
  readonly starts: readonly number[]
  /** When the last block has ended: no schedule of this DAG is shorter. */
  readonly length: number
  /** The blocks that take as long, in their order; of equals those that come first in the document. */
  readonly path: readonly number[]
  /** All blocks, each after what it waits for. */
  readonly order: readonly number[]
}

/** The longest path, in seconds of its blocks; `cycle` where blocks wait for each other. O(blocks + edges). */
export function criticalPath(
  upstream: Upstream,
  seconds: readonly number[],
): CriticalPath | { readonly cycle: readonly number[] } {
  const order = topologicalOrder(upstream)
  if (order.length < upstream.length) return { cycle: findCycle(upstream, order) }
  const starts = new Array<number>(upstream.length).fill(0)
  const ends = new Array<number>(upstream.length).fill(0)
  const last = new Array<number>(upstream.length).fill(-1)
  for (const v of order) {
    const before = latest(upstream[v] ?? [], ends)
    last[v] = before
    starts[v] = ends[before] ?? 0
    ends[v] = (starts[v] ?? 0) + (seconds[v] ?? 0)
  }
  const length = ends.reduce((most, end) => Math.max(most, end), 0)
  // Of those that end then, one nobody waits for: blocks that take no time belong to the path too.
  const waitedFor = new Set(upstream.flat())
  const end = ends.findIndex((at, v) => at === length && !waitedFor.has(v))
  return { starts, length, path: pathTo(end, last), order }
}

/** The one that ends last, of equals the first of the document; -1 of none. */
function latest(sources: readonly number[], ends: readonly number[]): number {
  let best = -1
  for (const source of sources) {
    const later = (ends[source] ?? 0) - (ends[best] ?? -1)
    if (later > 0 || (later === 0 && source < best)) best = source
  }
  return best
}

/** Blocks on or behind a cycle are missing. */
function topologicalOrder(upstream: Upstream): readonly number[] {
  const downstream: number[][] = upstream.map(() => [])
  const open = upstream.map((sources) => sources.length)
  upstream.forEach((sources, v) => {
    for (const source of sources) downstream[source]?.push(v)
  })
  const order = upstream.flatMap((sources, v) => (sources.length === 0 ? [v] : []))
  for (let at = 0; at < order.length; at += 1) {
    for (const v of downstream[order[at] ?? 0] ?? []) {
      const left = (open[v] ?? 0) - 1
      open[v] = left
      if (left === 0) order.push(v)
    }
  }
  return order
}

/** Each block that was not ordered waits for another such one: following them comes round. */
function findCycle(upstream: Upstream, order: readonly number[]): readonly number[] {
  const ordered = new Set(order)
  const seen = new Map<number, number>()
  const walked: number[] = []
  let v = upstream.findIndex((_, index) => !ordered.has(index))
  while (!seen.has(v)) {
    seen.set(v, walked.push(v) - 1)
    v = upstream[v]?.find((source) => !ordered.has(source)) ?? v
  }
  return walked.slice(seen.get(v)).reverse()
}

function pathTo(end: number, last: readonly number[]): readonly number[] {
  const path: number[] = []
  for (let v = end; v !== -1; v = last[v] ?? -1) path.push(v)
  return path.reverse()
}
