import type { Expression } from './expression.ts'
import type { PortSet } from './port-set.ts'
import { type WorkList, workList } from './work-list.ts'

/**
 * A node of the work graph. Neighbours do not name a node but its ports: `entry` stands in the `after` sets of its
 * predecessors, `exit` in the `before` sets of its successors. So fusing two nodes in sequence touches no neighbour:
 * the fused node has the entry of the first and the exit of the second.
 */
export interface WorkNode {
  expression: Expression
  readonly entry: number
  exit: number
  readonly before: PortSet
  after: PortSet
  alive: boolean
  /** Bits of the work lists it stands in. */
  listed: number
}

/** Mutable while it is reduced. Each step has its own list of the nodes that changed since it last looked. */
export interface WorkGraph {
  readonly byEntry: WorkNode[]
  readonly byExit: WorkNode[]
  readonly toReduce: WorkList
  readonly toFactor: WorkList
  /** How many nodes are alive. */
  size: number
}

export function emptyGraph(): WorkGraph {
  return { byEntry: [], byExit: [], toReduce: workList(1), toFactor: workList(2), size: 0 }
}

/** The nodes behind ports: `nodesAt(graph.byEntry, node.after.members)` are the successors. */
export function nodesAt(table: readonly WorkNode[], ports: Iterable<number>): WorkNode[] {
  const nodes: WorkNode[] = []
  for (const port of ports) {
    const node = table[port]
    if (node !== undefined) nodes.push(node)
  }
  return nodes
}
