import { hasBit } from './bit-rows.ts'
import { isEmpty } from './core.ts'
import { JOIN_COST, PARALLEL_COST, SIGNAL_COST } from './costs.ts'
import { attach, detach, type Forest } from './forest.ts'
import { levelsBelow } from './read-lane.ts'
import { MAX_DEPTH } from './series-parallel.ts'

/**
 * Gives every root a place: the main lane, behind the last piece there that comes before it, where it costs nothing.
 * Empty pieces that hold nothing get none: whoever comes after them waits for what comes before them.
 */
export function hostRoots(forest: Forest): void {
  cutTooDeep(forest)
  const main = mainLane(forest)
  shareWaits(forest, main)
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
    const tall = [...(branches[v] ?? [])].filter((k) => (heights[k] ?? 0) > room)
    for (const k of tall) detach(forest, k)
    const branch = Math.max(0, ...[...(branches[v] ?? [])].map((k) => heights[k] ?? 0))
    const own = Math.max(core.expressions[v]?.depth ?? 0, heights[closing[v] ?? -1] ?? 0)
    heights[v] = Math.max(own, branch + levelsBelow(forest, v))
  }
}

/** Pieces that wait behind the same empty piece may share its join where that saves more signals than it costs. */
function shareWaits(forest: Forest, main: readonly number[]): void {
  const { core, parent, closing } = forest
  core.before.forEach((_, v) => {
    if (v === 0 || !isEmpty(core, v) || parent[v] !== -1 || closing[v] !== -1) return
    const host = lastBefore(forest, main, v)
    const isBeside = (next: number) =>
      parent[next] === -1 && !isIdle(forest, next) && lastBefore(forest, main, next) === host
    const roots = core.after[v]?.filter(isBeside) ?? []
    if (savedBySharing(forest, v, roots.length) <= 0) return
    for (const root of roots) attach(forest, v, root, 'branch')
  })
}

function savedBySharing({ core, branches }: Forest, v: number, coming: number): number {
  const signals = SIGNAL_COST * (core.before[v]?.length ?? 0)
  const held = branches[v]?.size ?? 0
  const join = held > 0 ? 0 : JOIN_COST + signals
  const parallel = held < 2 && held + coming > 1 ? PARALLEL_COST : 0
  return signals * coming - join - parallel
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
