import { addRow, type BitRows, bitRows } from './bit-rows.ts'
import type { Expression } from './expression.ts'
import { kahnOrder } from './kahn-order.ts'
import { type Rows, rowSize } from './rows.ts'
import { turnRows } from './turn-rows.ts'
import type { WorkGraph, WorkNode } from './work-graph.ts'
import { at, zeros } from './zeros.ts'

/**
 * What series-parallel reductions leave of an order: pieces, numbered so that what comes before has the lower number.
 * Piece 0 comes before all others; if no piece does, it is an empty one.
 */
export interface Core {
  readonly size: number
  readonly expressions: readonly Expression[]
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
export function isEmpty({ expressions }: Core, v: number): boolean {
  return expressions[v]?.holdsBlock !== true
}

export function isSplitter({ sections }: Core, v: number): boolean {
  return v === 0 || sections[v] !== sections[v - 1]
}

export function coreOf(graph: WorkGraph): Core {
  const nodes = livingNodes(graph)
  const upstream = upstreamOf(graph, nodes)
  const order = kahnOrder(upstream, turnRows(upstream))
  const sources = countSources(upstream, order)
  const before = numbered(upstream, order, sources > 1 ? sources : 0)
  const after = turnRows(before)
  const expressions: Expression[] = sources > 1 ? [EMPTY] : []
  for (let place = 0; place < order.length; place++) {
    expressions.push(nodes[at(order, place)]?.expression ?? EMPTY)
  }
  return {
    size: expressions.length,
    expressions,
    widths: widthsOf(expressions),
    depth: deepest(expressions),
    before: turnRows(after),
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

function widthsOf(expressions: readonly Expression[]): number[] {
  const widths = zeros(expressions.length)
  for (let v = 0; v < expressions.length; v++) widths[v] = expressions[v]?.kind === 'par' ? 2 : 1
  return widths
}

function deepest(expressions: readonly Expression[]): number {
  let most = 0
  for (const { depth } of expressions) most = Math.max(most, depth)
  return most
}

const EMPTY: Expression = { kind: 'none', holdsBlock: false, depth: 0 }

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
  const rows = bitRows(size)
  for (let v = 0; v < size; v++) {
    const end = at(starts, v + 1)
    for (let i = at(starts, v); i < end; i++) addRow(rows, v, at(items, i))
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
