import { at, type Rows, rowSize, transposeRows, zeros } from './adjacency-rows.ts'
import { addAncestorRow, type BitRows, emptyBitMatrix } from './bit-matrix.ts'
import type { OrderExpression } from './steps.ts'
import { kahnOrder } from './topological-order.ts'
import type { WorkGraph, WorkNode } from './work-graph.ts'

/**
 * The pieces of a core as columns. A column is a piece, then its branches side by side, then its closing: the piece that
 * starts when all branches have ended. Whatever follows a piece here comes after it in the order, so a forest never
 * adds order; where it holds too little, a piece gets a join.
 * Numbers past the core's pieces are empty pieces that only hold branches and a closing. -1 is no piece.
 */
export interface Forest {
  readonly core: Core
  /** How many pieces there are, with those past the core's. */
  size: number
  /** The piece whose branch or closing a piece is; -1: a root. */
  readonly parent: number[]
  readonly closing: number[]
  /** How many branches a piece has; the first and last of them, and from each branch the ones beside it. */
  readonly held: number[]
  readonly first: number[]
  readonly last: number[]
  readonly next: number[]
  readonly previous: number[]
}

/** With room for the pieces `appendColumns` adds: each makes one column of three or more. */
export function emptyForest(core: Core): Forest {
  const room = core.size + (core.size >> 1)
  return {
    core,
    size: core.size,
    held: zeros(room),
    parent: zeros(room),
    closing: zeros(room),
    first: zeros(room),
    last: zeros(room),
    next: zeros(room),
    previous: zeros(room),
  }
}

export function attach(forest: Forest, host: number, v: number, as: 'branch' | 'closing'): void {
  detach(forest, v)
  const { parent, closing, held, first, last, next, previous } = forest
  parent[v] = host
  if (as === 'closing') {
    closing[host] = v
    return
  }
  const before = at(last, host)
  previous[v] = before
  next[v] = -1
  if (before < 0) first[host] = v
  else next[before] = v
  last[host] = v
  held[host] = at(held, host) + 1
}

export function detach({ parent, closing, held, first, last, next, previous }: Forest, v: number): void {
  const host = at(parent, v)
  parent[v] = -1
  if (host < 0 || closing[host] === v) return
  const before = at(previous, v)
  const after = at(next, v)
  if (before < 0) first[host] = after
  else next[before] = after
  if (after < 0) last[host] = before
  else previous[after] = before
  held[host] = at(held, host) - 1
}

/** Begins anew: a piece with one predecessor is its branch; the others are roots, and all but piece 0 need a join. */
export function rebuildForest(forest: Forest): void {
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

/** Its last pieces: whatever comes after all of them comes after the column. */
type Ends = number[]

/** A column on the main column's Parallel. */
export interface Column {
  readonly first: number
  readonly ends: Ends
  /** How deep Parallels nest in it. */
  depth: number
  /** The column it was moved into. */
  into: Column | undefined
  /** The piece it was last counted for. */
  counted: number
}

/** Where pieces are: by piece, the column it was in at first, and the list it is an end in now, if it is one. */
export interface ColumnTable {
  readonly of: (Column | undefined)[]
  readonly endIn: (Ends | undefined)[]
  /** Pieces still to look at; for each, how many Parallels are around it, and 1 if one of them closes. */
  readonly open: number[]
  readonly levels: number[]
  readonly closed: number[]
}

/** Enters the column that begins with piece `start`, and all that is in it. */
export function readColumn(forest: Forest, table: ColumnTable, start: number): void {
  const { core, closing, held } = forest
  const { open, levels, closed } = table
  const column: Column = { first: start, ends: [], depth: 0, into: undefined, counted: -1 }
  let opened = openPiece(table, 0, start, 0, 0)
  while (opened > 0) {
    const v = at(open, --opened)
    const level = at(levels, opened)
    const isClosed = at(closed, opened)
    const behind = at(closing, v)
    table.of[v] = column
    column.depth = Math.max(column.depth, level + (core.expressions[v]?.depth ?? 0))
    if (behind >= 0) opened = openPiece(table, opened, behind, level, isClosed)
    else if (held[v] === 0 && isClosed === 0) enterEnd(table, column, v)
    const inner = level + levelsBelow(forest, v)
    for (let k = at(forest.first, v); k >= 0; k = at(forest.next, k)) {
      opened = openPiece(table, opened, k, inner, behind >= 0 ? 1 : isClosed)
    }
  }
}

function openPiece(
  { open, levels, closed }: ColumnTable,
  opened: number,
  v: number,
  level: number,
  by: number,
): number {
  open[opened] = v
  levels[opened] = level
  closed[opened] = by
  return opened + 1
}

function enterEnd(table: ColumnTable, { ends }: Column, v: number): void {
  ends.push(v)
  table.endIn[v] = ends
}

/** One branch with nothing behind it is the same column. */
export function levelsBelow({ held, closing }: Forest, v: number): number {
  return at(held, v) > 1 || at(closing, v) >= 0 ? 1 : 0
}

/** A piece that is one Parallel and nothing else gives its branches to a Parallel around it. */
export function columnCount({ core, held, closing }: Forest, v: number): number {
  return held[v] === 0 && closing[v] === -1 ? at(core.widths, v) : 1
}

/**
 * What series-parallel reductions leave of an order: pieces, numbered so that what comes before has the lower number.
 * Piece 0 comes before all others; if no piece does, it is an empty one.
 */
export interface Core {
  readonly size: number
  readonly expressions: readonly OrderExpression[]
  /** 2 for a piece that is one Parallel and nothing else: its branches may be those of a Parallel around it. Else 1. */
  readonly widths: number[]
  /** How deep Parallels nest in the deepest piece. */
  readonly depth: number
  /** By piece: those right before and right after it, ascending. */
  readonly before: Rows
  readonly after: Rows
  /** Row v has the bits of all pieces that come before v. */
  readonly ancestors: BitRows
  /**
   * A splitter is a piece that all others come before or after; piece 0 is one. With each begins a section, numbered
   * from 1.
   */
  readonly sections: number[]
}

/** Whether a piece orders and does nothing. */
export function isEmptyPiece({ expressions }: Core, v: number): boolean {
  return expressions[v]?.holdsBlock !== true
}

export function isSplitter({ sections }: Core, v: number): boolean {
  return v === 0 || sections[v] !== sections[v - 1]
}

export function coreOf(graph: WorkGraph): Core {
  const nodes = livingNodes(graph)
  const upstream = upstreamOf(graph, nodes)
  const order = kahnOrder(upstream, transposeRows(upstream))
  const sources = countSources(upstream, order)
  const before = numbered(upstream, order, sources > 1 ? sources : 0)
  const after = transposeRows(before)
  const expressions: OrderExpression[] = sources > 1 ? [EMPTY] : []
  for (let place = 0; place < order.length; place++) {
    expressions.push(nodes[at(order, place)]?.expression ?? EMPTY)
  }
  return {
    size: expressions.length,
    expressions,
    widths: widthsOf(expressions),
    depth: deepest(expressions),
    before: transposeRows(after),
    after,
    ancestors: ancestorsOf(before),
    sections: sectionsOf(after),
  }
}

function livingNodes({ byEntry }: WorkGraph): readonly WorkNode[] {
  const nodes: WorkNode[] = []
  for (const node of byEntry) if (node.alive) nodes.push(node)
  return nodes
}

/** Those that wait for nothing come first in the order. */
function countSources(upstream: Rows, order: number[]): number {
  let sources = 0
  while (sources < order.length && rowSize(upstream, at(order, sources)) === 0) sources++
  return sources
}

function widthsOf(expressions: readonly OrderExpression[]): number[] {
  const widths = zeros(expressions.length)
  for (let v = 0; v < expressions.length; v++) widths[v] = expressions[v]?.kind === 'par' ? 2 : 1
  return widths
}

function deepest(expressions: readonly OrderExpression[]): number {
  let most = 0
  for (const { depth } of expressions) most = Math.max(most, depth)
  return most
}

const EMPTY: OrderExpression = { kind: 'none', holdsBlock: false, depth: 0 }

/** By index in the list: what each waits for. */
function upstreamOf({ byEntry, byExit, edges }: WorkGraph, nodes: readonly WorkNode[]): Rows {
  const indexes = zeros(byEntry.length)
  const starts = zeros(nodes.length + 1)
  let size = 0
  for (let index = 0; index < nodes.length; index++) {
    const node = nodes[index]
    indexes[node?.entry ?? 0] = index
    size += node?.before.size ?? 0
    starts[index + 1] = size
  }
  const items = zeros(size)
  let end = 0
  for (const { before } of nodes) {
    for (let edge = before.first; edge >= 0; edge = at(edges.in.next, edge)) {
      items[end++] = at(indexes, byExit[at(edges.from, edge)]?.entry ?? 0)
    }
  }
  return { starts, items }
}

/** The rows by place in the order. Several sources, which come first in it, get an empty piece 0 before them. */
function numbered({ starts, items }: Rows, order: number[], sources: number): Rows {
  const offset = sources > 0 ? 1 : 0
  const places = zeros(order.length)
  for (let place = 0; place < order.length; place++) places[at(order, place)] = place + offset
  const rows: Rows = {
    starts: zeros(order.length + offset + 1),
    items: zeros(items.length + sources),
  }
  // The sources' one predecessor is piece 0, and zeros are there already.
  let end = 0
  for (let place = 0; place < order.length; place++) {
    const index = at(order, place)
    const to = at(starts, index + 1)
    if (place < sources) end++
    for (let i = at(starts, index); i < to; i++) rows.items[end++] = at(places, at(items, i))
    rows.starts[place + offset + 1] = end
  }
  return rows
}

function ancestorsOf({ starts, items }: Rows): BitRows {
  const size = starts.length - 1
  const rows = emptyBitMatrix(size)
  for (let v = 0; v < size; v++) {
    const end = at(starts, v + 1)
    for (let i = at(starts, v); i < end; i++) addAncestorRow(rows, v, at(items, i))
  }
  return rows
}

/** In a reduced order splitters are the pieces no edge leaps over, up to and including the first without successors. */
function sectionsOf(after: Rows): number[] {
  const sections = zeros(after.starts.length - 1)
  let reach = 0
  let open = true
  let section = 0
  for (let v = 0; v < sections.length; v++) {
    if (open && reach <= v) section++
    if (rowSize(after, v) === 0) open = false
    else reach = Math.max(reach, at(after.items, at(after.starts, v + 1) - 1))
    sections[v] = section
  }
  return sections
}
