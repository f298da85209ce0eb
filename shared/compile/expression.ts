/** A wait for upstream blocks that the structure does not already order before `before`. */
export interface Join {
  /** Index of the block the wait stands before. */
  readonly before: number
  /** Ascending indexes of the blocks that signal it; all of them must have ended. */
  readonly sources: readonly number[]
}

interface Shape {
  /** False for what only waits or only orders. */
  readonly holdsBlock: boolean
  /** How deep Parallels nest in it. */
  readonly depth: number
}

/**
 * What a node of the work graph has become. Pairs, not lists: a reduction costs O(1), `flatten` makes the lists once.
 * `none` is a barrier: it orders and does nothing.
 */
export type Expression = Shape &
  (
    | { readonly kind: 'block'; readonly block: number }
    | { readonly kind: 'wait'; readonly join: Join }
    | { readonly kind: 'none' }
    | { readonly kind: 'seq' | 'par'; readonly left: Expression; readonly right: Expression }
  )

export function pair(kind: 'seq' | 'par', left: Expression, right: Expression): Expression {
  const depth = Math.max(levelsIn(left, kind), levelsIn(right, kind))
  return { kind, left, right, holdsBlock: left.holdsBlock || right.holdsBlock, depth }
}

/** A Parallel directly in a Parallel is the same one. */
function levelsIn({ depth, kind }: Expression, around: 'seq' | 'par'): number {
  return around === 'par' && kind !== 'par' ? depth + 1 : depth
}

/** The blocks an expression starts with. None when it holds no block. */
export function firstBlocks(expression: Expression): readonly number[] {
  const found: number[] = []
  const open = [expression]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'block') found.push(next.block)
    else if (next.kind === 'par') open.push(next.left, next.right)
    else if (next.kind === 'seq') open.push(next.left.holdsBlock ? next.left : next.right)
  }
  return found
}

/** The blocks an expression ends with, and those its last waits wait for: when all have ended, it has. */
export function lastBlocks(expression: Expression): readonly number[] {
  const found: number[] = []
  const open = [expression]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'block') found.push(next.block)
    else if (next.kind === 'wait') found.push(...next.join.sources)
    else if (next.kind === 'par') open.push(next.left, next.right)
    else if (next.kind === 'seq') open.push(...(next.right.holdsBlock ? [next.right] : [next.left, next.right]))
  }
  return found
}
