import type { Expression } from './expression.ts'
import { noPorts, toggle } from './port-set.ts'
import { nodesAt, type WorkGraph, type WorkNode } from './work-graph.ts'
import { enlist } from './work-list.ts'

export function addNode(graph: WorkGraph, expression: Expression): WorkNode {
  const port = graph.byEntry.length
  const node: WorkNode = {
    expression,
    entry: port,
    exit: port,
    before: noPorts(),
    after: noPorts(),
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
  for (const p of nodesAt(graph.byExit, node.before.members)) toggleEdge(graph, p, node)
  for (const s of nodesAt(graph.byEntry, node.after.members)) toggleEdge(graph, node, s)
  node.alive = false
  graph.size--
}

/** Draws the edge, or removes it if it is there. */
export function toggleEdge(graph: WorkGraph, from: WorkNode, to: WorkNode): void {
  toggle(from.after, to.entry)
  toggle(to.before, from.exit)
  enlist(graph.toReduce, from)
  enlist(graph.toReduce, to)
}
