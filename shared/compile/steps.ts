/** A flat sequence of steps is what a machine or a branch of a Parallel is made of. */
export type Step =
  | { readonly kind: 'block'; readonly block: number }
  | { readonly kind: 'wait'; readonly join: Join }
  | { readonly kind: 'par'; readonly branches: readonly Steps[] }
export type Steps = readonly Step[]

/**
 * The steps of an expression: nested sequences and nested Parallels are flattened, barriers vanish, a Parallel has two
 * or more branches, ordered by their first block. A branch that only waits moves behind its Parallel, which costs no
 * time since whatever follows needs both. Recursion is as deep as Parallels nest; chains of 10,000 are loops.
 */
export function flattenToSteps(expression: OrderExpression): Steps {
  if (expression.kind === 'block' || expression.kind === 'wait') return [expression]
  const steps: Step[] = []
  const open: OrderExpression[] = [expression]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.kind === 'block' || part.kind === 'wait') steps.push(part)
    else if (part.kind === 'seq') open.push(part.right, part.left)
    else if (part.kind === 'par') pushSteps(steps, inParallel(operands(part).map(flattenToSteps)))
  }
  return steps
}

export function pushSteps(steps: Step[], more: Steps): void {
  for (const step of more) steps.push(step)
}

/** The parts at the same time: a Parallel, where two or more of them hold blocks. */
export function inParallel(parts: readonly Steps[]): Steps {
  if (parts.every(isBranch)) return asParallel(parts)
  const waits: Step[] = []
  const branches: Steps[] = []
  for (const part of parts) {
    const [only] = part
    if (onlyWaits(part)) waits.push(...part)
    // A branch that is one Parallel and nothing else becomes that Parallel's branches.
    else if (part.length === 1 && only?.kind === 'par') branches.push(...only.branches)
    else branches.push(part)
  }
  return waits.length === 0 ? asParallel(branches) : [...asParallel(branches), ...waits]
}

function asParallel(branches: readonly Steps[]): Steps {
  return branches.length > 1 ? [{ kind: 'par', branches: byFirstBlock(branches) }] : (branches[0] ?? [])
}

/** Most parts are branches as they are. */
function isBranch(part: Steps): boolean {
  const [first] = part
  if (first === undefined) return false
  return first.kind === 'block' || (part.length > 1 && !onlyWaits(part))
}

/** The operands of a chain of Parallels, left to right. */
function operands(expression: OrderExpression): readonly OrderExpression[] {
  const parts: OrderExpression[] = []
  const open = [expression]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'par') open.push(next.right, next.left)
    else parts.push(next)
  }
  return parts
}

function onlyWaits(steps: Steps): boolean {
  return steps.every((step) => step.kind === 'wait')
}

function byFirstBlock(branches: readonly Steps[]): readonly Steps[] {
  if (areSorted(branches)) return branches
  const keys = branches.map(firstBlock)
  const order = [...keys.keys()].sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0))
  return order.map((i) => branches[i] ?? [])
}

function areSorted(branches: readonly Steps[]): boolean {
  let last = -1
  for (const branch of branches) {
    const key = firstBlock(branch)
    if (key < last) return false
    last = key
  }
  return true
}

/** Branches of a Parallel are sorted already: its first block is the first one's. */
function firstBlock(steps: Steps): number {
  for (const step of steps) {
    if (step.kind === 'block') return step.block
    if (step.kind === 'par') return firstBlock(step.branches[0] ?? [])
  }
  return 0
}

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
export type OrderExpression = Shape &
  (
    | { readonly kind: 'block'; readonly block: number }
    | { readonly kind: 'wait'; readonly join: Join }
    | { readonly kind: 'none' }
    | { readonly kind: 'seq' | 'par'; readonly left: OrderExpression; readonly right: OrderExpression }
  )

export function pair(kind: 'seq' | 'par', left: OrderExpression, right: OrderExpression): OrderExpression {
  const depth = Math.max(levelsIn(left, kind), levelsIn(right, kind))
  return { kind, left, right, holdsBlock: left.holdsBlock || right.holdsBlock, depth }
}

/** A Parallel directly in a Parallel is the same one. */
function levelsIn({ depth, kind }: OrderExpression, around: 'seq' | 'par'): number {
  return around === 'par' && kind !== 'par' ? depth + 1 : depth
}

/** The blocks an expression starts with. None when it holds no block. */
export function firstBlocks(expression: OrderExpression): readonly number[] {
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
export function lastBlocks(expression: OrderExpression): readonly number[] {
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

/** A Parallel is one more transition and four more events. */
export const PARALLEL_COST = 1
/** A join is one more transition too, but six events and two calls: of equals the Parallel wins. */
export const JOIN_COST = 1.05
/** A signal is one more set update in the store beside a whole state. */
export const SIGNAL_COST = 0.02

/** What machines of the same blocks are compared by. */
export function stepsCost(steps: Steps): number {
  let cost = 0
  const rows = [steps]
  for (const row of rows) {
    for (const step of row) {
      if (step.kind === 'wait') cost += JOIN_COST + SIGNAL_COST * step.join.sources.length
      if (step.kind === 'par') {
        cost += PARALLEL_COST
        rows.push(...step.branches)
      }
    }
  }
  return cost
}
