import { addRow, type BitRows, bitRows } from './bit-rows.ts'
import type { Expression } from './expression.ts'
import { noPorts, type PortSet } from './port-set.ts'
import { nodesAt, type WorkGraph, type WorkNode } from './work-graph.ts'

/**
 * What series-parallel reductions leave of an order: pieces, numbered so that what comes before has the lower number.
 * Piece 0 comes before all others; if no piece does, it is an empty one.
 */
export interface Core {
  readonly expressions: readonly Expression[]
  readonly before: readonly (readonly number[])[]
  readonly after: readonly (readonly number[])[]
  /** Row v has the bits of all pieces that come before v. */
  readonly ancestors: BitRows
  /**
   * A splitter is a piece that all others come before or after; piece 0 is one. With each begins a section, numbered
   * from 1.
   */
  readonly sections: readonly number[]
}

/** Whether a piece orders and does nothing. */
export function isEmpty({ expressions }: Core, v: number): boolean {
  return expressions[v]?.holdsBlock !== true
}

export function isSplitter({ sections }: Core, v: number): boolean {
  return v === 0 || sections[v] !== sections[v - 1]
}

export function coreOf(graph: WorkGraph): Core {
  const nodes = upstreamFirst(graph)
  const sources = nodes.filter((node) => node.before.size === 0)
  const offset = sources.length > 1 ? 1 : 0
  const byEntry = new Int32Array(graph.byEntry.length)
  const byExit = new Int32Array(graph.byExit.length)
  nodes.forEach((node, i) => {
    byEntry[node.entry] = i + offset
    byExit[node.exit] = i + offset
  })
  const before = nodes.map((node) => numbersAt(byExit, node.before))
  const after = nodes.map((node) => numbersAt(byEntry, node.after))
  const expressions = nodes.map(({ expression }) => expression)
  if (offset === 1) {
    for (const list of before) if (list.length === 0) list.push(0)
    before.unshift([])
    after.unshift(sources.map(({ entry }) => byEntry[entry] ?? 0).sort((a, b) => a - b))
    expressions.unshift({ kind: 'none', holdsBlock: false, depth: 0 })
  }
  return { expressions, before, after, ancestors: ancestorsOf(before), sections: sectionsOf(before, after) }
}

/** Numbers of the pieces behind ports, ascending. */
function numbersAt(table: Int32Array, { members, size }: PortSet): number[] {
  const found: number[] = []
  for (const port of members) found.push(table[port] ?? 0)
  return size > 1 ? found.sort((a, b) => a - b) : found
}

/** Kahn's order, first come first served. */
function upstreamFirst(graph: WorkGraph): readonly WorkNode[] {
  const waiting = new Int32Array(graph.byEntry.length)
  const order: WorkNode[] = []
  for (const node of graph.byEntry) {
    if (!node.alive) continue
    waiting[node.entry] = node.before.size
    if (node.before.size === 0) order.push(node)
  }
  for (let at = 0; at < order.length; at++) {
    for (const port of ascending(order[at]?.after)) {
      const left = (waiting[port] ?? 0) - 1
      waiting[port] = left
      if (left === 0) order.push(...nodesAt(graph.byEntry, [port]))
    }
  }
  return order
}

function ascending({ members, size }: PortSet = noPorts()): Iterable<number> {
  return size > 1 ? [...members].sort((a, b) => a - b) : members
}

function ancestorsOf(before: Core['before']): BitRows {
  const rows = bitRows(before.length)
  before.forEach((sources, v) => {
    for (const p of sources) addRow(rows, v, p)
  })
  return rows
}

/** In a reduced order splitters are the pieces no edge leaps over, up to and including the first without successors. */
function sectionsOf(before: Core['before'], after: Core['after']): readonly number[] {
  let reach = 0
  let open = true
  let section = 0
  return before.map((_, v) => {
    if (open && reach <= v) section++
    reach = Math.max(reach, ...(after[v] ?? []))
    if (after[v]?.length === 0) open = false
    return section
  })
}
