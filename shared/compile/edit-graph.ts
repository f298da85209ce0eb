import { cutEdge } from './draw-edge.ts'
import type { Expression } from './expression.ts'
import type { WorkGraph, WorkNode } from './work-graph.ts'
import { enlist } from './work-list.ts'

export function addNode(graph: WorkGraph, expression: Expression): WorkNode {
  const port = graph.byEntry.length
  const node: WorkNode = {
    expression,
    entry: port,
    exit: port,
    before: { first: -1, last: -1, size: 0, sum: 0 },
    after: { first: -1, last: -1, size: 0, sum: 0 },
    alive: true,
    listed: 0,
  }
  graph.byEntry.push(node)
  graph.byExit.push(node)
  enlist(graph.toReduce, node)
  graph.size++
  return node
}

/** Takes a node out with all its edges. */
export function removeNode(graph: WorkGraph, node: WorkNode): void {
  while (node.before.size > 0) cutEdge(graph, node.before.first)
  while (node.after.size > 0) cutEdge(graph, node.after.first)
  node.alive = false
  graph.size--
}
