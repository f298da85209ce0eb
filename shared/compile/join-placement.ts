import { at, itemsOf, rowSize, zeros } from './adjacency-rows.ts'
import { hasBit } from './bit-matrix.ts'
import { type ClosingSearch, chooseParallelClosings, openClosingSearch } from './parallel-closings.ts'
import {
  attach,
  type Column,
  type ColumnTable,
  type Core,
  columnCount,
  detach,
  emptyForest,
  type Forest,
  isEmptyPiece,
  isSplitter,
  levelsBelow,
  readColumn,
  rebuildForest,
} from './parallel-forest.ts'
import { MAX_DEPTH } from './series-parallel.ts'
import { JOIN_COST, lastBlocks, PARALLEL_COST, SIGNAL_COST, type Steps, stepsCost } from './steps.ts'
import { emptyPositions, type Positions, stepsOfForest } from './steps-of-forest.ts'

/** Cores up to this many pieces are laid again without their first closing: it is in the way of most. */
const LOOK_AHEAD_PIECES = 30

/**
 * Columns with joins for an order that holds an N, which no nesting alone can express. Every piece with several
 * predecessors needs a join, unless it closes a Parallel those end; every piece with two branches needs a Parallel.
 * So this starts with all the joins, saves those it can, and finds a place for the rest where it costs nothing. A small
 * core gets a look ahead: one closing less may allow more of others.
 */
export function arrangeWithJoins(core: Core): Steps {
  const desk = deskFor(core)
  const [first] = chooseWithout(desk, undefined)
  const steps = finish(desk)
  if (core.size > LOOK_AHEAD_PIECES || first === undefined) return steps
  chooseWithout(desk, first)
  const others = finish(desk)
  return stepsCost(others) < stepsCost(steps) ? others : steps
}

/** What a core is laid on, each time over what was there. */
interface Desk {
  readonly forest: Forest
  readonly search: ClosingSearch
  readonly columns: Columns
  readonly places: Positions
}

function deskFor(core: Core): Desk {
  const forest = emptyForest(core)
  return { forest, search: openClosingSearch(forest), columns: columnTable(forest), places: emptyPositions(forest) }
}

function chooseWithout({ forest, search }: Desk, closing: number | undefined): readonly number[] {
  rebuildForest(forest)
  return chooseParallelClosings(search, closing)
}

function finish({ forest, columns, places }: Desk): Steps {
  hostRoots(forest)
  appendColumns(columns)
  return stepsOfForest(forest, places)
}

/**
 * Gives every root a place: the main column, behind the last piece there that comes before it, where it costs nothing.
 * Empty pieces that hold nothing get none: whoever comes after them waits for what comes before them.
 */
function hostRoots(forest: Forest): void {
  cutTooDeep(forest)
  shareWaits(forest)
  const main = mainColumn(forest)
  for (let v = 1; v < forest.core.size; v++) {
    if (forest.parent[v] === -1 && !isIdle(forest, v)) attach(forest, lastBefore(forest, main, v), v, 'branch')
  }
}

/** Piece 0, its closing, the closing of that, and so on. */
function mainColumn({ closing }: Forest): readonly number[] {
  const column: number[] = []
  for (let v = 0; v >= 0; v = at(closing, v)) column.push(v)
  return column
}

function isIdle({ core, held, closing }: Forest, v: number): boolean {
  return isEmptyPiece(core, v) && held[v] === 0 && closing[v] === -1
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
  const join = isEmptyPiece(core, v) && parent[v] === -1 && holds === 0 ? JOIN_COST + signalsOf(core, v) : 0
  const parallel = holds < 2 && holds + coming > 1 ? PARALLEL_COST : 0
  return join + parallel + PARALLEL_COST * (columnCount(forest, v) - 1)
}

/** All pieces of the main column come before the root or after it: the last one before is found by halves. */
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

interface Columns extends ColumnTable {
  readonly forest: Forest
  /** By piece: the column's first piece it was last found for. */
  readonly foundFor: number[]
}

/**
 * Moves columns that begin with a join behind those they wait for. A column that comes after all of these needs no join:
 * one is simply followed, several become a Parallel, which costs less. A column that comes after one end of another one
 * follows there: its join has a signal less.
 */
function appendColumns(columns: Columns): void {
  const { before, size } = columns.forest.core
  startColumns(columns)
  readColumns(columns)
  for (let v = 1; v < size; v++) {
    const column = columns.of[v]
    if (column?.first !== v || rowSize(before, v) < 2) continue
    const found = positionsBefore(columns, v)
    if (!closeColumns(columns, column, found)) followEnd(columns, column, found)
  }
}

function columnTable(forest: Forest): Columns {
  const { size } = forest.core
  return {
    forest,
    of: new Array(size),
    endIn: new Array(size),
    open: zeros(size),
    levels: zeros(size),
    closed: zeros(size),
    foundFor: zeros(size),
  }
}

function startColumns({ of, endIn, foundFor }: Columns): void {
  for (let v = 0; v < foundFor.length; v++) {
    of[v] = undefined
    endIn[v] = undefined
    foundFor[v] = 0
  }
}

function readColumns(columns: Columns): void {
  const { forest } = columns
  for (const host of mainColumn(forest)) {
    for (let k = at(forest.first, host); k >= 0; k = at(forest.next, k)) readColumn(forest, columns, k)
  }
}

/** The predecessors that have a place, for an empty piece without one those before it; the host needs no mention. */
function positionsBefore({ forest, foundFor }: Columns, v: number): readonly number[] {
  const { parent, core } = forest
  const host = parent[v]
  const places: number[] = []
  const open = itemsOf(core.before, v)
  for (let p = open.pop(); p !== undefined; p = open.pop()) {
    if (p === host || foundFor[p] === v) continue
    foundFor[p] = v
    if (p === 0 || parent[p] !== -1) places.push(p)
    else open.push(...itemsOf(core.before, p))
  }
  return places
}

function closeColumns(columns: Columns, column: Column, found: readonly number[]): boolean {
  const { forest } = columns
  const v = column.first
  const host = at(forest.parent, v)
  const closed = columnsToClose(columns, found, host, v)
  const [only] = closed
  const depth = closed.reduce((most, other) => Math.max(most, other.depth), 0)
  if (only === undefined || (closed.length > 1 && depth >= MAX_DEPTH)) return false
  const first = closed.length > 1 ? around(forest, host, closed) : only.first
  attach(forest, lastOf(forest, first), v, 'closing')
  const level = closed.length > 1 ? 1 : 0
  const joined = {
    first,
    ends: column.ends,
    depth: Math.max(column.depth, depth + level),
    into: undefined,
    counted: -1,
  }
  column.into = joined
  for (const part of closed) part.into = joined
  return true
}

/** The columns of those found, if all are in one and each is beside piece v and comes before v as a whole. */
function columnsToClose(columns: Columns, found: readonly number[], host: number, v: number): readonly Column[] {
  const closed: Column[] = []
  for (const p of found) {
    const column = present(columns.of[p])
    if (column?.counted === v) continue
    if (column === undefined || columns.forest.parent[column.first] !== host || !endsBefore(columns, column, v))
      return []
    column.counted = v
    closed.push(column)
  }
  return closed
}

function endsBefore({ forest, endIn }: Columns, { ends }: Column, v: number): boolean {
  for (const end of ends) if (endIn[end] === ends && !hasBit(forest.core.ancestors, v, end)) return false
  return true
}

/** An empty piece with these columns as branches. */
function around(forest: Forest, host: number, columns: readonly Column[]): number {
  const v = forest.size++
  attach(forest, host, v, 'branch')
  for (const { first } of columns) attach(forest, v, first, 'branch')
  return v
}

function lastOf({ closing }: Forest, first: number): number {
  let v = first
  for (let next = at(closing, v); next >= 0; next = at(closing, v)) v = next
  return v
}

/** A Parallel all alone stays as it is: its branches are those of the Parallel around it. */
function followEnd({ forest, of, endIn }: Columns, column: Column, found: readonly number[]): void {
  for (const end of found) {
    const other = present(of[end])
    if (other === undefined || endIn[end] !== other.ends || forest.core.expressions[end]?.kind === 'par') continue
    if (other.depth + column.depth > MAX_DEPTH) continue
    attach(forest, end, column.first, 'branch')
    endIn[end] = undefined
    for (const own of column.ends) {
      if (endIn[own] !== column.ends) continue
      other.ends.push(own)
      endIn[own] = other.ends
    }
    other.depth += column.depth
    column.into = other
    return
  }
}

/** The column it is part of now; the way there is shortened for the next who asks. */
function present(column: Column | undefined): Column | undefined {
  if (column?.into === undefined) return column
  column.into = present(column.into)
  return column.into
}
