import { type EdgeList, type Edges, edgesFor } from './edges.ts'
import type { Expression } from './expression.ts'
import { type WorkList, workList } from './work-list.ts'
import { at } from './zeros.ts'

/**
 * A node of the work graph. Edges do not name a node but its ports: they start at an `exit` and end at an `entry`. So
 * fusing two nodes in sequence touches no neighbour: the fused node has the entry of the first and the exit of the
 * second.
 */
export interface WorkNode {
  expression: Expression
  readonly entry: number
  exit: number
  readonly before: EdgeList
  after: EdgeList
  alive: boolean
  /** Bits of the work lists it stands in. */
  listed: number
}

/** Mutable while it is reduced. Each step has its own list of the nodes that changed since it last looked. */
export interface WorkGraph {
  readonly byEntry: WorkNode[]
  readonly byExit: WorkNode[]
  readonly edges: Edges
  readonly toReduce: WorkList
  readonly toFactor: WorkList
  /** How many nodes are alive. */
  size: number
}

/** No step draws more edges than it takes away: it never has more than at first. */
export function emptyGraph(edges: number): WorkGraph {
  return { byEntry: [], byExit: [], edges: edgesFor(edges), toReduce: workList(1), toFactor: workList(2), size: 0 }
}

export function nodesBefore({ byExit, edges }: WorkGraph, { before }: WorkNode): WorkNode[] {
  const nodes: WorkNode[] = []
  for (let edge = before.first; edge >= 0; edge = at(edges.in.next, edge)) {
    const node = byExit[at(edges.from, edge)]
    if (node !== undefined) nodes.push(node)
  }
  return nodes
}

export function nodesAfter({ byEntry, edges }: WorkGraph, { after }: WorkNode): WorkNode[] {
  const nodes: WorkNode[] = []
  for (let edge = after.first; edge >= 0; edge = at(edges.out.next, edge)) {
    const node = byEntry[at(edges.to, edge)]
    if (node !== undefined) nodes.push(node)
  }
  return nodes
}
