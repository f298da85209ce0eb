import { appendLanes } from './append-lanes.ts'
import { chooseClosings } from './choose-closings.ts'
import type { Core } from './core.ts'
import type { Steps } from './flatten.ts'
import type { Forest } from './forest.ts'
import { hostRoots } from './host-roots.ts'
import { stepsOfForest } from './steps-of-forest.ts'

/**
 * Lanes with joins for an order that holds an N, which no nesting alone can express. Every piece with several
 * predecessors needs a join, unless it closes a Parallel those end; every piece with two branches needs a Parallel.
 * So this starts with all the joins, saves those it can, and finds a place for the rest where it costs nothing.
 */
export function layLanes(core: Core): Steps {
  const forest = growForest(core)
  chooseClosings(forest)
  hostRoots(forest)
  appendLanes(forest)
  return stepsOfForest(forest)
}

/** A piece with one predecessor is its branch; the others are roots, and all but piece 0 need a join. */
function growForest(core: Core): Forest {
  const branches = core.before.map(() => new Set<number>())
  const parent = core.before.map((sources, v) => {
    const only = sources.length === 1 ? (sources[0] ?? -1) : -1
    branches[only]?.add(v)
    return only
  })
  return { core, parent, branches, closing: core.before.map(() => -1) }
}
