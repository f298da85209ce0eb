import { hasBit } from './bit-rows.ts'
import { isSplitter } from './core.ts'
import { JOIN_COST, PARALLEL_COST, SIGNAL_COST } from './costs.ts'
import type { Forest } from './forest.ts'
import { lanesIn } from './read-lane.ts'
import { rowSize } from './rows.ts'
import { at } from './zeros.ts'

/** All columns but `trees` belong to the closing that is weighed; the next one writes over them. */
export interface Search {
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
export interface Closing {
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
export function weighClosing(search: Search, host: number, piece: number, least: number): Closing | undefined {
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
function fitsInside(search: Search, host: number, piece: number): boolean {
  const { core, closing } = search.forest
  const sections = at(core.sections, piece) - at(core.sections, host)
  const fits = isSplitter(core, piece) ? sections === 1 : sections === 0 && !isSplitter(core, host)
  if (!fits || closing[host] !== -1) return false
  const around = closingAround(search, host)
  return around < 0 || isWhollyBefore(search, piece, around)
}

/** The closing of the nearest Parallel the host is in; -1: none closes. */
function closingAround(search: Search, host: number): number {
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

function isWhollyBefore(search: Search, root: number, around: number): boolean {
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
function rootsToHost(search: Search, host: number, piece: number): number {
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

function isBelow(search: Search, host: number, p: number): boolean {
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
function costOfPart(search: Search, v: number, piece: number, coming: number): number {
  const { forest, open, leaving } = search
  const { core, first, next } = forest
  const from = search.left
  let had = 0
  let lanes = Math.max(0, coming)
  let outside = 0
  search.effort -= at(forest.held, v) + 1
  for (let k = at(first, v); k >= 0; k = at(next, k)) {
    const width = lanesIn(forest, k)
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
function costOfClosing(search: Search, v: number, piece: number): number {
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
  return JOIN_COST + SIGNAL_COST + PARALLEL_COST * (lanesIn(forest, v) - 1)
}
