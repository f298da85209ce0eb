import { at, rowSize, zeros } from './adjacency-rows.ts'
import { hasBit } from './bit-matrix.ts'
import { attach, columnCount, detach, type Forest, isSplitter } from './parallel-forest.ts'
import { JOIN_COST, PARALLEL_COST, SIGNAL_COST } from './steps.ts'

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
export function chooseParallelClosings(search: ClosingSearch, without: number | undefined): readonly number[] {
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

function chooseOnce(search: ClosingSearch, least: number, without: number | undefined, chosen: number[]): void {
  const { forest } = search
  const hosts = openHosts(forest, least)
  if (hosts === undefined) return
  for (let w = 1; w < forest.core.size && search.effort > 0; w++) {
    if (forest.parent[w] !== -1 || w === without) continue
    const closing = bestClosing(search, hosts, w, least)
    if (closing === undefined) continue
    applyClosing(search, closing)
    chosen.push(w)
  }
}

export function openClosingSearch(forest: Forest): ClosingSearch {
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

function startSearch(search: ClosingSearch): void {
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
function bestClosing(search: ClosingSearch, hosts: Hosts, w: number, least: number): Closing | undefined {
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
function commonHosts({ forest }: ClosingSearch, { bits }: Hosts, w: number, word: number): number {
  const { before, ancestors } = forest.core
  const end = at(before.starts, w + 1)
  let common = at(bits, word)
  for (let i = at(before.starts, w); i < end && common !== 0; i++) {
    common &= ancestors.bits[at(before.items, i) * ancestors.words + word] ?? 0
  }
  return common
}

function applyClosing(search: ClosingSearch, { host, piece, hosted, expelled }: Closing): void {
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
function relabel({ forest, trees, open }: ClosingSearch, root: number, tree: number): void {
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

/** All columns but `trees` belong to the closing that is weighed; the next one writes over them. */
export interface ClosingSearch {
  readonly forest: Forest
  /** The root each piece is below. */
  readonly trees: number[]
  /** Pieces still to look at, the last one first. */
  readonly open: number[]
  opened: number
  /** Roots that would become branches of the host; by root, the number of the closing it was last put there for. */
  readonly hosted: number[]
  readonly hostedFor: number[]
  /** Branches that would have to leave. */
  readonly leaving: number[]
  left: number
  /** How many closings were weighed. */
  weighed: number
  /** What the rest of the closing may cost. */
  room: number
  /** Steps left. */
  effort: number
}

/** A piece that may stand behind the branches of another one, instead of waiting for them in a join. */
interface Closing {
  readonly host: number
  readonly piece: number
  readonly gain: number
  /** Roots that become branches of the host. */
  readonly hosted: number[]
  /** Branches that do not come before the piece: they become roots. */
  readonly expelled: number[]
}

/**
 * What it saves to let `piece` close the branches of `host`. All that branches there must come before the piece: what
 * does not is expelled, and needs a join if it had none. Undefined when it cannot be, or gains no more than `least`.
 */
function weighClosing(search: ClosingSearch, host: number, piece: number, least: number): Closing | undefined {
  if (!fitsInside(search, host, piece)) return undefined
  const coming = rootsToHost(search, host, piece)
  if (coming < 0) return undefined
  const { forest, open, hosted, leaving } = search
  open[0] = host
  for (let i = 0; i < coming; i++) open[i + 1] = at(hosted, i)
  search.opened = coming + 1
  search.left = 0
  let gain = JOIN_COST + SIGNAL_COST * rowSize(forest.core.before, piece)
  while (search.opened > 0) {
    const v = at(open, --search.opened)
    search.room = gain - least
    gain -= costOfPart(search, v, piece, v === host ? coming : -1)
    if (gain <= least) return undefined
  }
  return { host, piece, gain, hosted: hosted.slice(0, coming), expelled: leaving.slice(0, search.left) }
}

/**
 * Where the host is itself in a Parallel that closes, the piece and what follows it must come before that closing. And
 * whatever is still a root needs room beside the lane of the splitters: between two of them it is closed by the second
 * one only.
 */
function fitsInside(search: ClosingSearch, host: number, piece: number): boolean {
  const { core, closing } = search.forest
  const sections = at(core.sections, piece) - at(core.sections, host)
  const fits = isSplitter(core, piece) ? sections === 1 : sections === 0 && !isSplitter(core, host)
  if (!fits || closing[host] !== -1) return false
  const around = closingAround(search, host)
  return around < 0 || isWhollyBefore(search, piece, around)
}

/** The closing of the nearest Parallel the host is in; -1: none closes. */
function closingAround(search: ClosingSearch, host: number): number {
  const { parent, closing } = search.forest
  let v = host
  for (let around = at(parent, v); around >= 0; around = at(parent, v)) {
    search.effort--
    const next = at(closing, around)
    if (next >= 0 && next !== v) return next
    v = around
  }
  return -1
}

function isWhollyBefore(search: ClosingSearch, root: number, around: number): boolean {
  const { forest, open } = search
  const { core, closing, first, next } = forest
  let opened = 1
  open[0] = root
  while (opened > 0) {
    const v = at(open, --opened)
    if (!hasBit(core.ancestors, around, v)) return false
    search.effort--
    const behind = at(closing, v)
    if (behind >= 0) open[opened++] = behind
    for (let k = at(first, v); k >= 0; k = at(next, k)) open[opened++] = k
  }
  return true
}

/** Finds the roots over those predecessors that are not below the host already. Answers how many; -1: it cannot be. */
function rootsToHost(search: ClosingSearch, host: number, piece: number): number {
  const { forest, trees, hosted, hostedFor } = search
  const { before, ancestors } = forest.core
  const tree = at(trees, host)
  const end = at(before.starts, piece + 1)
  const turn = ++search.weighed
  let found = 0
  for (let i = at(before.starts, piece); i < end; i++) {
    const p = at(before.items, i)
    const root = at(trees, p)
    const below = root === tree ? isBelow(search, host, p) : hasBit(ancestors, root, host)
    if (!below) return -1
    if (root === tree || hostedFor[root] === turn) continue
    hostedFor[root] = turn
    hosted[found++] = root
  }
  return found
}

function isBelow(search: ClosingSearch, host: number, p: number): boolean {
  const { parent } = search.forest
  let v = p
  // A parent has a lower number.
  for (; v > host; v = at(parent, v)) search.effort--
  return v === host
}

/**
 * What a piece at or below the host costs when its branches that do not come before `piece` leave; those that do, and
 * its closing, are opened. `coming` is for the host: how many branches it gets, and it must keep two (-1: not the host). What costs clearly
 * more than there is room for costs Infinity.
 */
function costOfPart(search: ClosingSearch, v: number, piece: number, coming: number): number {
  const { forest, open, leaving } = search
  const { core, first, next } = forest
  const from = search.left
  let had = 0
  let lanes = Math.max(0, coming)
  let outside = 0
  search.effort -= at(forest.held, v) + 1
  for (let k = at(first, v); k >= 0; k = at(next, k)) {
    const width = columnCount(forest, k)
    had += width
    if (hasBit(core.ancestors, piece, k)) {
      lanes += width
      open[search.opened++] = k
      continue
    }
    leaving[search.left++] = k
    outside += costOutside(forest, k)
    if (outside > search.room + 2 * PARALLEL_COST) return Infinity
  }
  if (coming >= 0 && lanes < 2) return Infinity
  let cost = PARALLEL_COST * ((lanes > 1 ? 1 : 0) - (had > 1 ? 1 : 0))
  for (let i = from; i < search.left; i++) cost += costOutside(forest, at(leaving, i))
  return cost + costOfClosing(search, v, piece)
}

/** A closing that would have to go is not worth it. */
function costOfClosing(search: ClosingSearch, v: number, piece: number): number {
  const { core, closing } = search.forest
  const behind = at(closing, v)
  if (behind < 0) return 0
  if (!hasBit(core.ancestors, piece, behind)) return Infinity
  search.open[search.opened++] = behind
  return 0
}

/** What had no join needs one now, and a Parallel behind a join is one of its own. */
function costOutside(forest: Forest, v: number): number {
  if (rowSize(forest.core.before, v) !== 1) return 0
  return JOIN_COST + SIGNAL_COST + PARALLEL_COST * (columnCount(forest, v) - 1)
}
