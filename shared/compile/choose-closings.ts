import { attach, detach, type Forest } from './forest.ts'
import { type Closing, type Search, weighClosing } from './weigh-closing.ts'

/** What gains less may stand in the way of more: its turn comes last. */
const CLEAR_GAIN = 0.5
/** Any gain, but for rounding. */
const SOME_GAIN = 0.001
/** How many places are weighed for a closing, the nearest first. */
const TRIES = 8
/** Steps a piece or edge until the search stops where it is: what keeps it near-linear. Every stop is exact. */
const EFFORT = 200

/**
 * Saves joins: a piece that waits for several others becomes the closing of a Parallel, which those others end, where
 * that costs less than it saves. Upstream first, so small Parallels close before those around them; the second round
 * sees what the first made possible. Answers the pieces chosen; `without` is none of them.
 */
export function chooseClosings(forest: Forest, without: number | undefined): readonly number[] {
  const search = startSearch(forest)
  const chosen: number[] = []
  for (const least of [CLEAR_GAIN, CLEAR_GAIN, SOME_GAIN]) {
    const hosts = openHosts(forest, least)
    for (let w = 1; w < forest.core.before.length && search.effort > 0; w++) {
      if (forest.parent[w] !== -1 || w === without) continue
      const closing = bestClosing(search, hosts, w, least)
      if (closing === undefined) continue
      apply(search, closing)
      chosen.push(w)
    }
  }
  return chosen
}

function startSearch(forest: Forest): Search {
  const { before, after } = forest.core
  const trees: number[] = []
  before.forEach((_, v) => {
    trees[v] = trees[forest.parent[v] ?? -1] ?? v
  })
  const edges = after.reduce((sum, next) => sum + next.length, 0)
  return { forest, trees, effort: EFFORT * (before.length + edges) }
}

/** Bits of the pieces that may get a closing: for a clear gain, their branches must be a Parallel already. */
function openHosts({ core, branches, closing }: Forest, least: number): Uint32Array {
  const bits = new Uint32Array(core.ancestors.words)
  branches.forEach((held, u) => {
    const wide = held.size >= (least < CLEAR_GAIN ? 1 : 2)
    if (wide && closing[u] === -1) bits[u >>> 5] = (bits[u >>> 5] ?? 0) | (1 << (u & 31))
  })
  return bits
}

function bestClosing(search: Search, hosts: Uint32Array, w: number, least: number): Closing | undefined {
  let best: Closing | undefined
  let tries = TRIES
  for (const u of commonAncestors(search, hosts, w)) {
    const closing = weighClosing(search, u, w, Math.max(least, best?.gain ?? 0))
    if (closing !== undefined) best = closing
    if (--tries === 0 || search.effort <= 0) break
  }
  return best
}

/** Of the hosts, those before all predecessors of w, the nearest first. */
function* commonAncestors({ forest }: Search, hosts: Uint32Array, w: number): Iterable<number> {
  const { before, ancestors } = forest.core
  const { words, bits } = ancestors
  const sources = before[w] ?? []
  for (let at = words - 1; at >= 0; at--) {
    let common = hosts[at] ?? 0
    for (let i = 0; i < sources.length && common !== 0; i++) common &= bits[(sources[i] ?? 0) * words + at] ?? 0
    while (common !== 0) {
      const bit = 31 - Math.clz32(common)
      common &= ~(1 << bit)
      yield at * 32 + bit
    }
  }
}

function apply({ forest, trees }: Search, { host, piece, hosted, expelled }: Closing): void {
  const relabel = (root: number, tree: number) => {
    const open = [root]
    for (let v = open.pop(); v !== undefined; v = open.pop()) {
      trees[v] = tree
      open.push(...(forest.branches[v] ?? []))
      const next = forest.closing[v] ?? -1
      if (next >= 0) open.push(next)
    }
  }
  for (const v of expelled) {
    detach(forest, v)
    relabel(v, v)
  }
  for (const v of hosted) attach(forest, host, v, 'branch')
  attach(forest, host, piece, 'closing')
  for (const v of [...hosted, piece]) relabel(v, trees[host] ?? host)
}
