import { cutEdge } from './draw-edge.ts'
import { firstBlocks, type Join, lastBlocks, pair } from './expression.ts'
import { nodesAfter, nodesBefore, type WorkGraph, type WorkNode } from './work-graph.ts'

/**
 * Replaces edges into a node by a join right before it, signalled by the last blocks of where they came from. No
 * deadlock is possible: structure and joins together hold the DAG's own order and no other, so what stands behind the
 * wait comes after the node there, and a source comes before it.
 */
export function waitInstead(graph: WorkGraph, previous: readonly WorkNode[], node: WorkNode): void {
  const sources = new Set<number>()
  for (const from of previous) {
    addSinks(graph, from, sources)
    cutBetween(graph, from, node)
  }
  const join: Join = { before: firstBlock(graph, node), sources: [...sources].sort((a, b) => a - b) }
  node.expression = pair('seq', { kind: 'wait', join, holdsBlock: false, depth: 0 }, node.expression)
}

function cutBetween(graph: WorkGraph, { exit }: WorkNode, { before }: WorkNode): void {
  const { edges } = graph
  let edge = before.first
  while (edge >= 0 && edges.from[edge] !== exit) edge = edges.in.next[edge] ?? -1
  if (edge >= 0) cutEdge(graph, edge)
}

/** The blocks that must have ended before whatever follows the node; an empty node looks behind itself. */
function addSinks(graph: WorkGraph, node: WorkNode, sinks: Set<number>): void {
  for (const block of lastBlocks(node.expression)) sinks.add(block)
  if (node.expression.holdsBlock) return
  for (const previous of nodesBefore(graph, node)) addSinks(graph, previous, sinks)
}

/** Lowest index among the blocks the node starts with; an empty node looks ahead. */
function firstBlock(graph: WorkGraph, node: WorkNode): number {
  if (node.expression.holdsBlock) return Math.min(...firstBlocks(node.expression))
  return Math.min(...nodesAfter(graph, node).map((next) => firstBlock(graph, next)))
}
