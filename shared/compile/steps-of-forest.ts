import { at, type Rows, zeros } from './adjacency-rows.ts'
import { type Core, type Forest, isEmptyPiece } from './parallel-forest.ts'
import {
  firstBlocks,
  flattenToSteps,
  inParallel,
  type Join,
  lastBlocks,
  type OrderExpression,
  pushSteps,
  type Step,
  type Steps,
} from './steps.ts'

/** The forest as steps, with a join before each piece that comes after more than what stands before it. */
export function stepsOfForest(forest: Forest, places: Positions): Steps {
  const { there, back, seenFor } = places
  for (let v = 0; v < forest.size; v++) {
    there[v] = LAST
    back[v] = LAST
    seenFor[v] = 0
  }
  walk(forest, there, true)
  walk(forest, back, false)
  return columnSteps(forest, places, 0)
}

export function emptyPositions({ parent, core }: Forest): Positions {
  const room = parent.length
  return {
    there: zeros(room),
    back: zeros(room),
    seenFor: zeros(room),
    open: zeros(room),
    sinks: new Array(core.size),
    steps: new Array(core.size),
  }
}

/**
 * The place of each piece in two walks: one takes branches first to last, the other last to first. A nested order is
 * where both agree: u stands before v, in sequence and not beside it.
 */
export interface Positions {
  readonly there: number[]
  readonly back: number[]
  /** By piece: the piece it was last looked at for. */
  readonly seenFor: number[]
  /** Pieces still to look at. */
  readonly open: number[]
  /** By piece, once asked for: the blocks it ends with. */
  readonly sinks: (readonly number[] | undefined)[]
  /** By piece, once asked for: its steps. */
  readonly steps: (Steps | undefined)[]
}

/** The place of who has none. */
const LAST = 0x7fffffff

/** Recursion is as deep as Parallels nest. */
function walk(forest: Forest, places: number[], forwards: boolean): void {
  const { held, closing } = forest
  const first = forwards ? forest.first : forest.last
  const beside = forwards ? forest.next : forest.previous
  let place = 0
  const visit = (column: number) => {
    for (let v = column; v >= 0; ) {
      places[v] = place++
      const behind = at(closing, v)
      if (held[v] === 1 && behind < 0) v = at(first, v)
      else {
        for (let k = at(first, v); k >= 0; k = at(beside, k)) visit(k)
        v = behind
      }
    }
  }
  visit(0)
}

function columnSteps(forest: Forest, places: Positions, start: number): Steps {
  const { core, held, closing, first, next } = forest
  if (held[start] === 0 && closing[start] === -1) return stepsOfPiece(forest, places, start)
  const column: Step[] = []
  for (let v = start; v >= 0; ) {
    if (v < core.size) pushSteps(column, stepsOfPiece(forest, places, v))
    const behind = at(closing, v)
    if (held[v] === 1 && behind < 0) {
      v = at(first, v)
      continue
    }
    const branches: Steps[] = []
    for (let k = at(first, v); k >= 0; k = at(next, k)) branches.push(columnSteps(forest, places, k))
    if (branches.length > 0) pushSteps(column, inParallel(branches))
    v = behind
  }
  return column
}

function stepsOfPiece(forest: Forest, places: Positions, v: number): Steps {
  const steps = places.steps[v] ?? flattenToSteps(forest.core.expressions[v] ?? EMPTY)
  places.steps[v] = steps
  const join = joinBefore(forest, places, v)
  return join === undefined ? steps : [{ kind: 'wait', join }, ...steps]
}

const EMPTY: OrderExpression = { kind: 'none', holdsBlock: false, depth: 0 }

/** For a piece with sources that do not stand before it. */
function joinBefore(forest: Forest, places: Positions, v: number): Join | undefined {
  const { core } = forest
  const sources: number[] = []
  let opened = openSources(core.before, places, v, v, 0)
  while (opened > 0) {
    const p = at(places.open, --opened)
    // An empty piece signals nobody: whoever it stands behind does.
    if (isEmptyPiece(core, p)) opened = openSources(core.before, places, p, v, opened)
    pushSinks(core, places, p, sources)
  }
  return sources.length === 0 ? undefined : { before: firstBlock(forest, v), sources: ascending(sources) }
}

/** Opens what comes right before a piece and does not stand before v, each piece once. Answers how many are open. */
function openSources({ starts, items }: Rows, places: Positions, piece: number, v: number, opened: number): number {
  const { open, seenFor } = places
  const end = at(starts, piece + 1)
  let size = opened
  for (let i = at(starts, piece); i < end; i++) {
    const p = at(items, i)
    if (seenFor[p] === v || standsBefore(places, p, v)) continue
    seenFor[p] = v
    open[size++] = p
  }
  return size
}

function standsBefore({ there, back }: Positions, u: number, v: number): boolean {
  return at(there, u) < at(there, v) && at(back, u) < at(back, v)
}

function pushSinks({ expressions }: Core, { sinks }: Positions, v: number, sources: number[]): void {
  const expression = expressions[v]
  if (expression === undefined) return
  if (expression.kind === 'block') {
    sources.push(expression.block)
    return
  }
  const known = sinks[v] ?? lastBlocks(expression)
  sinks[v] = known
  for (const block of known) sources.push(block)
}

/** Each block once, in the same list. */
function ascending(blocks: number[]): readonly number[] {
  if (blocks.length > FEW) blocks.sort((a, b) => a - b)
  else sortFew(blocks)
  let size = 0
  for (const block of blocks) if (size === 0 || block !== blocks[size - 1]) blocks[size++] = block
  blocks.length = size
  return blocks
}

/** So many are sorted in less time than a comparing function is called. */
const FEW = 16

/** Each is put in its place among those before it. */
function sortFew(blocks: number[]): void {
  for (let i = 1; i < blocks.length; i++) {
    const block = blocks[i] ?? 0
    let place = i
    for (; place > 0 && (blocks[place - 1] ?? 0) > block; place--) blocks[place] = blocks[place - 1] ?? 0
    blocks[place] = block
  }
}

/** Lowest index among the blocks the piece starts with; an empty one looks at what follows it. */
function firstBlock({ core, held, closing, first, next }: Forest, start: number): number {
  let lowest = Number.POSITIVE_INFINITY
  const open = [start]
  for (let v = open.pop(); v !== undefined; v = open.pop()) {
    if (v < 0) continue
    const expression = core.expressions[v]
    if (expression?.holdsBlock === true) lowest = Math.min(lowest, lowestFirst(expression))
    else if (held[v] === 0) open.push(at(closing, v))
    else for (let k = at(first, v); k >= 0; k = at(next, k)) open.push(k)
  }
  return lowest
}

function lowestFirst(expression: OrderExpression): number {
  if (expression.kind === 'block') return expression.block
  let lowest = Number.POSITIVE_INFINITY
  for (const block of firstBlocks(expression)) lowest = Math.min(lowest, block)
  return lowest
}
