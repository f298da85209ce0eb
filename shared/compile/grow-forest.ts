import { attach, type Forest } from './forest.ts'
import { rowSize } from './rows.ts'
import { at } from './zeros.ts'

/** Begins anew: a piece with one predecessor is its branch; the others are roots, and all but piece 0 need a join. */
export function growForest(forest: Forest): void {
  const { core } = forest
  clearForest(forest)
  const { starts, items } = core.before
  for (let v = 1; v < core.size; v++) {
    if (rowSize(core.before, v) === 1) attach(forest, at(items, at(starts, v)), v, 'branch')
  }
}

/** Every piece of the core is a root and holds nothing. */
function clearForest(forest: Forest): void {
  const { held, parent, closing, first, last, next, previous } = forest
  forest.size = forest.core.size
  for (let v = 0; v < held.length; v++) {
    held[v] = 0
    parent[v] = -1
    closing[v] = -1
    first[v] = -1
    last[v] = -1
    next[v] = -1
    previous[v] = -1
  }
}
