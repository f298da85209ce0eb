import { appendLanes, type Lanes, laneTable } from './append-lanes.ts'
import { chooseClosings, searchIn } from './choose-closings.ts'
import type { Core } from './core.ts'
import { costOf } from './cost-of.ts'
import type { Steps } from './flatten.ts'
import { type Forest, forestFor } from './forest.ts'
import { growForest } from './grow-forest.ts'
import { hostRoots } from './host-roots.ts'
import { type Places, placesIn, stepsOfForest } from './steps-of-forest.ts'
import type { Search } from './weigh-closing.ts'

/** Cores up to this many pieces are laid again without their first closing: it is in the way of most. */
const LOOK_AHEAD_PIECES = 30

/**
 * Lanes with joins for an order that holds an N, which no nesting alone can express. Every piece with several
 * predecessors needs a join, unless it closes a Parallel those end; every piece with two branches needs a Parallel.
 * So this starts with all the joins, saves those it can, and finds a place for the rest where it costs nothing. A small
 * core gets a look ahead: one closing less may allow more of others.
 */
export function layLanes(core: Core): Steps {
  const desk = deskFor(core)
  const [first] = chooseWithout(desk, undefined)
  const steps = finish(desk)
  if (core.size > LOOK_AHEAD_PIECES || first === undefined) return steps
  chooseWithout(desk, first)
  const others = finish(desk)
  return costOf(others) < costOf(steps) ? others : steps
}

/** What a core is laid on, each time over what was there. */
interface Desk {
  readonly forest: Forest
  readonly search: Search
  readonly lanes: Lanes
  readonly places: Places
}

function deskFor(core: Core): Desk {
  const forest = forestFor(core)
  return { forest, search: searchIn(forest), lanes: laneTable(forest), places: placesIn(forest) }
}

function chooseWithout({ forest, search }: Desk, closing: number | undefined): readonly number[] {
  growForest(forest)
  return chooseClosings(search, closing)
}

function finish({ forest, lanes, places }: Desk): Steps {
  hostRoots(forest)
  appendLanes(lanes)
  return stepsOfForest(forest, places)
}
