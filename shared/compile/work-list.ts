import type { WorkNode } from './work-graph.ts'

/** Nodes to look at, first come first served; a node stands in a list once. */
export interface WorkList {
  readonly nodes: WorkNode[]
  /** Those before have been looked at. */
  at: number
  /** The bit of a node's `listed` that says it stands here. */
  readonly bit: number
}

export function workList(bit: number): WorkList {
  return { nodes: [], at: 0, bit }
}

export function enlist(list: WorkList, node: WorkNode): void {
  if ((node.listed & list.bit) !== 0) return
  node.listed |= list.bit
  list.nodes.push(node)
}

/** Takes the first one off the list. */
export function nextOf(list: WorkList): WorkNode | undefined {
  const node = list.nodes[list.at]
  if (node === undefined) return undefined
  list.at++
  node.listed &= ~list.bit
  return node
}
