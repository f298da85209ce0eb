import { type Buckets, bucketsFor, fileNode, livingWith } from './buckets.ts'
import { SIGNAL_COST } from './costs.ts'
import { cutEdge, drawEdge } from './draw-edge.ts'
import { addNode } from './edit-graph.ts'
import { sameNeighbours } from './same-neighbours.ts'
import { nodesAfter, nodesBefore, type WorkGraph, type WorkNode } from './work-graph.ts'
import { enlist, nextOf } from './work-list.ts'

/** One direction to look in: nodes filed by the set of their successors (`after`) or predecessors (`before`). */
interface Side {
  readonly name: 'after' | 'before'
  readonly buckets: Buckets
}
export type Sides = readonly Side[]

export function barrierSides(nodes: number): Sides {
  return [
    { name: 'after', buckets: bucketsFor(nodes, ({ after }) => after.sum) },
    { name: 'before', buckets: bucketsFor(nodes, ({ before }) => before.sum) },
  ]
}

/**
 * Step 2 (docs/compiler.md, "How it works"): a complete bipartite piece gets an empty barrier node in its middle.
 * Exact: it adds no order. Every piece lowers the number of surplus edges, so this ends. Answers whether there was one.
 * Two nodes with the same two or more predecessors always do: one join may then serve them all. Nodes with the same
 * successors only where the signals saved are worth the barrier's own join: their successors have more predecessors.
 */
export function factorBarriers(graph: WorkGraph, sides: Sides): boolean {
  const nodes: WorkNode[] = []
  for (let node = nextOf(graph.toFactor); node !== undefined; node = nextOf(graph.toFactor)) {
    if (node.alive) nodes.push(node)
  }
  const before = graph.size
  for (const side of sides) {
    // Who has one neighbour there shares it with nobody it could be factored with.
    for (const node of nodes) if (node[side.name].size > 1) fileNode(side.buckets, node)
    for (const node of nodes) factorAround(graph, side, node)
  }
  return graph.size > before
}

function factorAround(graph: WorkGraph, side: Side, node: WorkNode): void {
  const { name, buckets } = side
  const shared = node[name]
  if (shared.size < 2) return
  const living = fileNode(buckets, node)
  if (living < 2 || !isWorthIt(name, living, shared.size)) return
  const mates = livingWith(buckets, node).filter((mate) => sameNeighbours(graph.edges, name, mate[name], shared))
  if (mates.length < 2 || !isWorthIt(name, mates.length, shared.size)) return
  if (name === 'before') putBetween(graph, side, nodesBefore(graph, node), mates)
  else putBetween(graph, side, mates, nodesAfter(graph, node))
}

function isWorthIt(name: Side['name'], mates: number, far: number): boolean {
  return name === 'before' || (mates - 1) * (far - 1) * SIGNAL_COST >= 1
}

/** All edges between are on the named side of the one, on the other side of the other, and no others are there. */
function putBetween(graph: WorkGraph, { name }: Side, from: readonly WorkNode[], to: readonly WorkNode[]): void {
  const barrier = addNode(graph, { kind: 'none', holdsBlock: false, depth: 0 })
  // Looked at in the order of pairs: the first one, all it comes before, the rest.
  for (const node of [...from.slice(0, 1), ...to]) enlist(graph.toReduce, node)
  for (const mate of name === 'after' ? from : to) while (mate[name].size > 0) cutEdge(graph, mate[name].first)
  for (const u of from) drawEdge(graph, u, barrier)
  for (const v of to) drawEdge(graph, barrier, v)
}
