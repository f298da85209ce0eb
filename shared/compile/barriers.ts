import { type Buckets, fileNode } from './buckets.ts'
import { SIGNAL_COST } from './costs.ts'
import { addNode, toggleEdge } from './edit-graph.ts'
import { type PortSet, sameMembers } from './port-set.ts'
import { nodesAt, type WorkGraph, type WorkNode } from './work-graph.ts'
import { nextOf } from './work-list.ts'

/** One direction to look in: nodes filed by the set of their successors (`after`) or predecessors (`before`). */
interface Side {
  readonly name: 'after' | 'before'
  readonly buckets: Buckets
}
export type Sides = readonly Side[]

export function barrierSides(): Sides {
  return (['after', 'before'] as const).map((name) => ({
    name,
    buckets: { keyOf: (node) => node[name].sum, nodes: new Map() },
  }))
}

/**
 * Step 2 of design compile: a complete bipartite piece gets an empty barrier node in its middle. Exact: it adds no
 * order. Every piece lowers the number of surplus edges, so this ends. Answers whether there was one.
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

function factorAround(graph: WorkGraph, { name, buckets }: Side, node: WorkNode): void {
  const shared: PortSet = node[name]
  if (shared.size < 2) return
  const mates = fileNode(buckets, node).filter((mate) => sameMembers(mate[name], shared))
  if (mates.length < 2) return
  const far = nodesAt(name === 'after' ? graph.byEntry : graph.byExit, shared.members)
  if (name === 'after' && (mates.length - 1) * (far.length - 1) * SIGNAL_COST < 1) return
  const [from, to] = name === 'after' ? [mates, far] : [far, mates]
  const barrier = addNode(graph, { kind: 'none', holdsBlock: false, depth: 0 })
  for (const u of from) for (const v of to) toggleEdge(graph, u, v)
  for (const u of from) toggleEdge(graph, u, barrier)
  for (const v of to) toggleEdge(graph, barrier, v)
}
