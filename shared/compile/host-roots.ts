import { hasBit } from './bit-rows.ts'
import { type Core, isEmpty, isSplitter } from './core.ts'
import { JOIN_COST, PARALLEL_COST, SIGNAL_COST } from './costs.ts'
import { lastBlocks } from './expression.ts'
import { attach, detach, type Forest, lanesIn } from './forest.ts'
import { levelsBelow } from './read-lane.ts'
import { MAX_DEPTH } from './series-parallel.ts'

/**
 * Gives every root a place: the main lane, behind the last piece there that comes before it, where it costs nothing.
 * Empty pieces that hold nothing get none: whoever comes after them waits for what comes before them.
 */
export function hostRoots(forest: Forest): void {
  cutTooDeep(forest)
  shareWaits(forest)
  const main = mainLane(forest)
  forest.core.before.forEach((_, v) => {
    if (v === 0 || forest.parent[v] !== -1 || isIdle(forest, v)) return
    attach(forest, lastBefore(forest, main, v), v, 'branch')
  })
}

/** Piece 0, its closing, the closing of that, and so on. */
export function mainLane({ closing }: Forest): readonly number[] {
  const lane: number[] = []
  for (let v = 0; v >= 0; v = closing[v] ?? -1) lane.push(v)
  return lane
}

function isIdle({ core, branches, closing }: Forest, v: number): boolean {
  return isEmpty(core, v) && branches[v]?.size === 0 && closing[v] === -1
}

/** A branch in which Parallels nest too deep becomes a root. */
function cutTooDeep(forest: Forest): void {
  const { core, branches, closing } = forest
  const heights: number[] = []
  for (let v = core.before.length - 1; v >= 0; v--) {
    const room = MAX_DEPTH - levelsBelow(forest, v)
    let branch = 0
    for (const k of branches[v] ?? []) {
      const height = heights[k] ?? 0
      if (height > room) detach(forest, k)
      else branch = Math.max(branch, height)
    }
    const own = Math.max(core.expressions[v]?.depth ?? 0, heights[closing[v] ?? -1] ?? 0)
    heights[v] = Math.max(own, branch + levelsBelow(forest, v))
  }
}

/**
 * Pieces that wait for the same piece may stand behind it, where that saves more signals than a Parallel there costs:
 * otherwise each of the many blocks a piece can end with would signal each of them. The widest pieces come first.
 */
function shareWaits(forest: Forest): void {
  const { core, closing } = forest
  const wide = core.before
    .map((_, v) => ({ v, signals: signalsOf(core, v) }))
    .filter(({ v, signals }) => v !== 0 && signals * (core.after[v]?.length ?? 0) > PARALLEL_COST)
  for (const { v, signals } of wide.sort((a, b) => b.signals - a.signals)) {
    if (closing[v] !== -1) continue
    const hosts = hostsAround(forest, v)
    const waiting = core.after[v]?.filter((next) => isMovable(forest, next, hosts)) ?? []
    if (signals * waiting.length <= costOfSharing(forest, v, waiting.length)) continue
    for (const next of waiting) attach(forest, v, next, 'branch')
  }
}

/** What it costs to wait for the piece: by its last blocks, or those before it if it is empty. */
function signalsOf({ expressions, before }: Core, v: number): number {
  const expression = expressions[v]
  if (expression?.holdsBlock !== true) return SIGNAL_COST * (before[v]?.length ?? 0)
  return SIGNAL_COST * lastBlocks(expression).length
}

/** What waits anyway: neither a closing, nor a branch of the only piece before it. */
function isMovable(forest: Forest, v: number, hosts: ReadonlySet<number>): boolean {
  const { core, parent, closing } = forest
  const host = parent[v] ?? -1
  return hosts.has(host) && closing[host] !== v && (core.before[v]?.length ?? 0) > 1 && !isIdle(forest, v)
}

/**
 * Where what may move behind the piece can be now: in a Parallel around it, up to one that closes. Nowhere yet (-1) if
 * none does, but for a splitter: roots do not reach past those.
 */
function hostsAround({ core, parent, closing }: Forest, piece: number): ReadonlySet<number> {
  const hosts = new Set([-1])
  for (let v = piece; (parent[v] ?? -1) >= 0; v = parent[v] ?? -1) {
    const host = parent[v] ?? -1
    const next = closing[host] ?? -1
    if (next === v) continue
    hosts.add(host)
    if (next < 0) continue
    if (!isSplitter(core, next)) hosts.delete(-1)
    break
  }
  return hosts
}

function costOfSharing(forest: Forest, v: number, coming: number): number {
  const { core, branches, parent } = forest
  const held = branches[v]?.size ?? 0
  const join = isEmpty(core, v) && parent[v] === -1 && held === 0 ? JOIN_COST + signalsOf(core, v) : 0
  const parallel = held < 2 && held + coming > 1 ? PARALLEL_COST : 0
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
