import { hasBit } from './bit-rows.ts'
import { type Core, isEmpty, isSplitter } from './core.ts'
import { JOIN_COST, PARALLEL_COST, SIGNAL_COST } from './costs.ts'
import { lastBlocks } from './expression.ts'
import { attach, detach, type Forest } from './forest.ts'
import { lanesIn, levelsBelow } from './read-lane.ts'
import { rowSize } from './rows.ts'
import { MAX_DEPTH } from './series-parallel.ts'
import { at, zeros } from './zeros.ts'

/**
 * Gives every root a place: the main lane, behind the last piece there that comes before it, where it costs nothing.
 * Empty pieces that hold nothing get none: whoever comes after them waits for what comes before them.
 */
export function hostRoots(forest: Forest): void {
  cutTooDeep(forest)
  shareWaits(forest)
  const main = mainLane(forest)
  for (let v = 1; v < forest.core.size; v++) {
    if (forest.parent[v] === -1 && !isIdle(forest, v)) attach(forest, lastBefore(forest, main, v), v, 'branch')
  }
}

/** Piece 0, its closing, the closing of that, and so on. */
export function mainLane({ closing }: Forest): readonly number[] {
  const lane: number[] = []
  for (let v = 0; v >= 0; v = at(closing, v)) lane.push(v)
  return lane
}

function isIdle({ core, held, closing }: Forest, v: number): boolean {
  return isEmpty(core, v) && held[v] === 0 && closing[v] === -1
}

/** A branch in which Parallels nest too deep becomes a root. A piece is one level at the most. */
function cutTooDeep(forest: Forest): void {
  const { core, first, next, closing } = forest
  if (core.size + core.depth < MAX_DEPTH) return
  const heights = zeros(core.size)
  for (let v = core.size - 1; v >= 0; v--) {
    const room = MAX_DEPTH - levelsBelow(forest, v)
    let branch = 0
    let after = -1
    for (let k = at(first, v); k >= 0; k = after) {
      after = at(next, k)
      const height = at(heights, k)
      if (height > room) detach(forest, k)
      else branch = Math.max(branch, height)
    }
    const behind = at(closing, v)
    const own = Math.max(core.expressions[v]?.depth ?? 0, behind < 0 ? 0 : at(heights, behind))
    heights[v] = Math.max(own, branch + levelsBelow(forest, v))
  }
}

/**
 * Pieces that wait for the same piece may stand behind it, where that saves more signals than a Parallel there costs:
 * otherwise each of the many blocks a piece can end with would signal each of them. The widest pieces come first.
 */
function shareWaits(forest: Forest): void {
  const { core, closing } = forest
  for (const { v, signals } of widePieces(core)) {
    if (closing[v] !== -1) continue
    const waiting = movableBehind(forest, v)
    if (signals * waiting.length <= costOfSharing(forest, v, waiting.length)) continue
    for (const next of waiting) attach(forest, v, next, 'branch')
  }
}

interface Wide {
  readonly v: number
  readonly signals: number
}

/** The pieces whose waits cost more than a Parallel. */
function widePieces(core: Core): readonly Wide[] {
  const wide: Wide[] = []
  for (let v = 1; v < core.size; v++) {
    const waiting = rowSize(core.after, v)
    if (waiting === 0) continue
    const signals = signalsOf(core, v)
    if (signals * waiting > PARALLEL_COST) wide.push({ v, signals })
  }
  return wide.sort((a, b) => b.signals - a.signals)
}

/** What it costs to wait for the piece: by its last blocks, or those before it if it is empty. */
function signalsOf({ expressions, before }: Core, v: number): number {
  const expression = expressions[v]
  if (expression?.kind === 'block') return SIGNAL_COST
  if (expression?.holdsBlock !== true) return SIGNAL_COST * rowSize(before, v)
  return SIGNAL_COST * lastBlocks(expression).length
}

/** What waits for the piece anyway and may do so behind it. */
function movableBehind(forest: Forest, v: number): readonly number[] {
  const { starts, items } = forest.core.after
  const hosts = hostsAround(forest, v)
  return items.slice(at(starts, v), at(starts, v + 1)).filter((next) => isMovable(forest, next, hosts))
}

/** Neither a closing, nor a branch of the only piece before it. */
function isMovable(forest: Forest, v: number, hosts: ReadonlySet<number>): boolean {
  const { core, parent, closing } = forest
  const host = at(parent, v)
  return hosts.has(host) && closing[host] !== v && rowSize(core.before, v) > 1 && !isIdle(forest, v)
}

/**
 * Where what may move behind the piece can be now: in a Parallel around it, up to one that closes. Nowhere yet (-1) if
 * none does, but for a splitter: roots do not reach past those.
 */
function hostsAround({ core, parent, closing }: Forest, piece: number): ReadonlySet<number> {
  const hosts = new Set([-1])
  for (let v = piece; at(parent, v) >= 0; v = at(parent, v)) {
    const host = at(parent, v)
    const next = at(closing, host)
    if (next === v) continue
    hosts.add(host)
    if (next < 0) continue
    if (!isSplitter(core, next)) hosts.delete(-1)
    break
  }
  return hosts
}

function costOfSharing(forest: Forest, v: number, coming: number): number {
  const { core, held, parent } = forest
  const holds = at(held, v)
  const join = isEmpty(core, v) && parent[v] === -1 && holds === 0 ? JOIN_COST + signalsOf(core, v) : 0
  const parallel = holds < 2 && holds + coming > 1 ? PARALLEL_COST : 0
  return join + parallel + PARALLEL_COST * (lanesIn(forest, v) - 1)
}

/** All pieces of the main lane come before the root or after it: the last one before is found by halves. */
function lastBefore({ core }: Forest, main: readonly number[], v: number): number {
  let low = 0
  let high = main.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (hasBit(core.ancestors, v, main[middle] ?? 0)) low = middle
    else high = middle - 1
  }
  return main[low] ?? 0
}
