import { addRow, type BitRows, bitRows } from './bit-rows.ts'
import type { Expression } from './expression.ts'
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
  const numbers = new Map(nodes.map((node, i) => [node, i + offset]))
  const numbersOf = (found: readonly WorkNode[]) => found.map((node) => numbers.get(node) ?? 0).sort((a, b) => a - b)
  const before = nodes.map((node) => numbersOf(nodesAt(graph.byExit, node.before.members)))
  const after = nodes.map((node) => numbersOf(nodesAt(graph.byEntry, node.after.members)))
  const expressions = nodes.map(({ expression }) => expression)
  if (offset === 1) {
    for (const list of before) if (list.length === 0) list.push(0)
    before.unshift([])
    after.unshift(numbersOf(sources))
    expressions.unshift({ kind: 'none', holdsBlock: false, depth: 0 })
  }
  return { expressions, before, after, ancestors: ancestorsOf(before), sections: sectionsOf(before, after) }
}

/** Kahn's order, first come first served. */
function upstreamFirst(graph: WorkGraph): readonly WorkNode[] {
  const alive = graph.byEntry.filter((node) => node.alive)
  const waiting = new Map(alive.map((node) => [node, node.before.size]))
  const order = alive.filter((node) => node.before.size === 0)
  for (let at = 0; at < order.length; at++) {
    const ports = [...(order[at]?.after.members ?? [])].sort((a, b) => a - b)
    for (const next of nodesAt(graph.byEntry, ports)) {
      const left = (waiting.get(next) ?? 0) - 1
      waiting.set(next, left)
      if (left === 0) order.push(next)
    }
  }
  return order
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
