import { appendLanes } from './append-lanes.ts'
import { chooseClosings } from './choose-closings.ts'
import type { Core } from './core.ts'
import { costOf } from './cost-of.ts'
import type { Steps } from './flatten.ts'
import { attach, emptyForest, type Forest } from './forest.ts'
import { hostRoots } from './host-roots.ts'
import { rowSize } from './rows.ts'
import { stepsOfForest } from './steps-of-forest.ts'
import { at } from './zeros.ts'

/** Cores up to this many pieces are laid again without each of their closings. */
const LOOK_AHEAD_PIECES = 30
/** How many closings are tried that way, the first ones: they are in the way of most. */
const LOOK_AHEAD_TRIES = 3

/**
 * Lanes with joins for an order that holds an N, which no nesting alone can express. Every piece with several
 * predecessors needs a join, unless it closes a Parallel those end; every piece with two branches needs a Parallel.
 * So this starts with all the joins, saves those it can, and finds a place for the rest where it costs nothing. A small
 * core gets a look ahead: one closing less may allow more of others.
 */
export function layLanes(core: Core): Steps {
  const first = layWithout(core, undefined)
  const closings = core.size > LOOK_AHEAD_PIECES ? [] : first.closings.slice(0, LOOK_AHEAD_TRIES)
  let best = { steps: first.steps, cost: costOf(first.steps) }
  for (const closing of closings) {
    const { steps } = layWithout(core, closing)
    const cost = costOf(steps)
    if (cost < best.cost) best = { steps, cost }
  }
  return best.steps
}

function layWithout(core: Core, closing: number | undefined) {
  const forest = growForest(core)
  const closings = chooseClosings(forest, closing)
  hostRoots(forest)
  appendLanes(forest)
  return { steps: stepsOfForest(forest), closings }
}

/** A piece with one predecessor is its branch; the others are roots, and all but piece 0 need a join. */
function growForest(core: Core): Forest {
  const forest = emptyForest(core)
  const { starts, items } = core.before
  for (let v = 1; v < core.size; v++) {
    if (rowSize(core.before, v) === 1) attach(forest, at(items, at(starts, v)), v, 'branch')
  }
  return forest
}
