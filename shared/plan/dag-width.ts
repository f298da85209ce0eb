import type { Upstream } from './critical-path.ts'

/**
 * How many blocks can be at work at once, whatever they take: the largest set none of which waits for another
 * (Dilworth: blocks minus a maximum matching of the order's pairs). O(blocks ** 3 / 32), at most 0.1 s for 1,000.
 */
export function dagWidth(upstream: Upstream, order: readonly number[]): number {
  const words = (upstream.length + 31) >>> 5
  const ancestors = ancestorsOf(upstream, order, words)
  const matching: Matching = { ancestors, words, unseen: new Uint32Array(words), takenBy: new Map() }
  let matched = 0
  for (let v = 0; v < upstream.length; v += 1) {
    matching.unseen.fill(0xffffffff)
    if (augment(matching, v)) matched += 1
  }
  return upstream.length - matched
}

interface Matching {
  /** A row of bits a block: what it waits for, directly or not. */
  readonly ancestors: Uint32Array
  readonly words: number
  /** Ancestors this search has not looked at. */
  readonly unseen: Uint32Array
  /** By ancestor: the block it is matched with. */
  readonly takenBy: Map<number, number>
}

function ancestorsOf(upstream: Upstream, order: readonly number[], words: number): Uint32Array {
  const rows = new Uint32Array(upstream.length * words)
  for (const v of order) {
    for (const source of upstream[v] ?? []) {
      for (let w = 0; w < words; w += 1)
        rows[v * words + w] = (rows[v * words + w] ?? 0) | (rows[source * words + w] ?? 0)
      const at = v * words + (source >>> 5)
      rows[at] = (rows[at] ?? 0) | (1 << (source & 31))
    }
  }
  return rows
}

/** Finds v an ancestor of its own, moving others to theirs: each ancestor is looked at once a search. */
function augment(matching: Matching, v: number): boolean {
  const { takenBy } = matching
  for (let ancestor = unseenAncestor(matching, v); ancestor !== -1; ancestor = unseenAncestor(matching, v)) {
    const holder = takenBy.get(ancestor)
    if (holder !== undefined && !augment(matching, holder)) continue
    takenBy.set(ancestor, v)
    return true
  }
  return false
}

/** -1 when all were looked at. */
function unseenAncestor({ ancestors, words, unseen }: Matching, v: number): number {
  for (let w = 0; w < words; w += 1) {
    const bits = (ancestors[v * words + w] ?? 0) & (unseen[w] ?? 0)
    if (bits === 0) continue
    const bit = 31 - Math.clz32(bits)
    unseen[w] = (unseen[w] ?? 0) & ~(1 << bit)
    return w * 32 + bit
  }
  return -1
}
