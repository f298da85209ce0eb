import { attach, detach, type Forest } from './forest.ts'
import { type Closing, type Search, weighClosing } from './weigh-closing.ts'
import { at, zeros } from './zeros.ts'

/** What gains less may stand in the way of more: its turn comes last. */
const CLEAR_GAIN = 0.5
/** Any gain, but for rounding. */
const SOME_GAIN = 0.001
/** How many places are weighed for a closing, the nearest first; fewer where no more than a little can be gained. */
const TRIES = 8
const LITTLE_TRIES = 2
/** Steps a piece or edge until the search stops where it is: what keeps it near-linear. Every stop is exact. */
const EFFORT = 200

/**
 * Saves joins: a piece that waits for several others becomes the closing of a Parallel, which those others end, where
 * that costs less than it saves. Upstream first, so small Parallels close before those around them; the second round
 * sees what the first made possible. Answers the pieces chosen; `without` is none of them.
 */
export function chooseClosings(search: Search, without: number | undefined): readonly number[] {
  startSearch(search)
  const chosen: number[] = []
  const before = search.effort
  chooseOnce(search, CLEAR_GAIN, without, chosen)
  // Where the first round changed nothing, the second one would come to the same.
  if (chosen.length > 0) chooseOnce(search, CLEAR_GAIN, without, chosen)
  else search.effort -= before - search.effort
  chooseOnce(search, SOME_GAIN, without, chosen)
  return chosen
}

function chooseOnce(search: Search, least: number, without: number | undefined, chosen: number[]): void {
  const { forest } = search
  const hosts = openHosts(forest, least)
  if (hosts === undefined) return
  for (let w = 1; w < forest.core.size && search.effort > 0; w++) {
    if (forest.parent[w] !== -1 || w === without) continue
    const closing = bestClosing(search, hosts, w, least)
    if (closing === undefined) continue
    apply(search, closing)
    chosen.push(w)
  }
}

export function searchIn(forest: Forest): Search {
  const { size } = forest.core
  return {
    forest,
    trees: zeros(size),
    open: zeros(size),
    hosted: zeros(size),
    hostedFor: zeros(size),
    leaving: zeros(size),
    opened: 0,
    left: 0,
    weighed: 0,
    room: 0,
    effort: 0,
  }
}

function startSearch(search: Search): void {
  const { forest, trees } = search
  const { size, after } = forest.core
  for (let v = 0; v < size; v++) {
    const parent = at(forest.parent, v)
    trees[v] = parent < 0 ? v : at(trees, parent)
  }
  search.effort = EFFORT * (size + after.items.length)
}

/** The pieces that may get a closing, as bits. */
interface Hosts {
  readonly bits: readonly number[]
  /** By word: the nearest one from there down that has bits; -1: none. */
  readonly nearest: readonly number[]
}

/** For a clear gain, their branches must be a Parallel already. Undefined if there are none. */
function openHosts({ core, held, closing }: Forest, least: number): Hosts | undefined {
  const { words } = core.ancestors
  const bits = zeros(words)
  const wide = least < CLEAR_GAIN ? 1 : 2
  for (let u = 0; u < core.size; u++) {
    if (at(held, u) >= wide && closing[u] === -1) bits[u >>> 5] = at(bits, u >>> 5) | (1 << (u & 31))
  }
  const nearest = zeros(words)
  let last = -1
  for (let word = 0; word < words; word++) {
    if (bits[word] !== 0) last = word
    nearest[word] = last
  }
  return last < 0 ? undefined : { bits, nearest }
}

/** Weighs the hosts that come before all predecessors of w, the nearest first. */
function bestClosing(search: Search, hosts: Hosts, w: number, least: number): Closing | undefined {
  let best: Closing | undefined
  let tries = least < CLEAR_GAIN ? LITTLE_TRIES : TRIES
  for (let word = nearestFrom(hosts, w >>> 5); word >= 0; word = nearestFrom(hosts, word - 1)) {
    let common = commonHosts(search, hosts, w, word)
    while (common !== 0) {
      const bit = 31 - Math.clz32(common)
      common &= ~(1 << bit)
      const closing = weighClosing(search, word * 32 + bit, w, best?.gain ?? least)
      if (closing !== undefined) best = closing
      if (--tries === 0 || search.effort <= 0) return best
    }
  }
  return best
}

function nearestFrom({ nearest }: Hosts, word: number): number {
  return word < 0 ? -1 : at(nearest, word)
}

/** A word of bits of the hosts before all predecessors. */
function commonHosts({ forest }: Search, { bits }: Hosts, w: number, word: number): number {
  const { before, ancestors } = forest.core
  const end = at(before.starts, w + 1)
  let common = at(bits, word)
  for (let i = at(before.starts, w); i < end && common !== 0; i++) {
    common &= ancestors.bits[at(before.items, i) * ancestors.words + word] ?? 0
  }
  return common
}

function apply(search: Search, { host, piece, hosted, expelled }: Closing): void {
  const { forest, trees } = search
  for (const v of expelled) {
    detach(forest, v)
    relabel(search, v, v)
  }
  for (const v of hosted) attach(forest, host, v, 'branch')
  attach(forest, host, piece, 'closing')
  for (const v of [...hosted, piece]) relabel(search, v, at(trees, host))
}

/** All pieces below the root are of another tree now. */
function relabel({ forest, trees, open }: Search, root: number, tree: number): void {
  const { first, next, closing } = forest
  let size = 1
  open[0] = root
  while (size > 0) {
    const v = at(open, --size)
    trees[v] = tree
    for (let k = at(first, v); k >= 0; k = at(next, k)) open[size++] = k
    if (at(closing, v) >= 0) open[size++] = at(closing, v)
  }
}
