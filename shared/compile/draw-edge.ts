import { type Edges, link, unlink } from './edges.ts'
import type { WorkGraph, WorkNode } from './work-graph.ts'
import { enlist } from './work-list.ts'
import { at } from './zeros.ts'

export function drawEdge(graph: WorkGraph, from: WorkNode, to: WorkNode): void {
  const { edges } = graph
  const edge = takeNumber(edges)
  edges.from[edge] = from.exit
  edges.to[edge] = to.entry
  link(edges.out, from.after, edge, to.entry)
  link(edges.in, to.before, edge, from.exit)
  enlist(graph.toReduce, from)
  enlist(graph.toReduce, to)
}

export function cutEdge(graph: WorkGraph, edge: number): void {
  const { edges } = graph
  const from = graph.byExit[at(edges.from, edge)]
  const to = graph.byEntry[at(edges.to, edge)]
  if (from === undefined || to === undefined) return
  unlink(edges.out, from.after, edge, to.entry)
  unlink(edges.in, to.before, edge, from.exit)
  forgetEdge(edges, edge)
  enlist(graph.toReduce, from)
  enlist(graph.toReduce, to)
}

/** For an edge whose two lists are gone. */
export function forgetEdge(edges: Edges, edge: number): void {
  edges.out.next[edge] = edges.free
  edges.free = edge
}

function takeNumber(edges: Edges): number {
  const { free } = edges
  if (free < 0) return edges.used++
  edges.free = at(edges.out.next, free)
  return free
}
