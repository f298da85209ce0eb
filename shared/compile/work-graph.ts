import { at, zeros } from './adjacency-rows.ts'
import type { OrderExpression } from './steps.ts'

/**
 * A node of the work graph. Edges do not name a node but its ports: they start at an `exit` and end at an `entry`. So
 * fusing two nodes in sequence touches no neighbour: the fused node has the entry of the first and the exit of the
 * second.
 */
export interface WorkNode {
  expression: OrderExpression
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

/** Nodes to look at, first come first served; a node stands in a list once. */
interface WorkList {
  readonly nodes: WorkNode[]
  /** Those before have been looked at. */
  at: number
  /** The bit of a node's `listed` that says it stands here. */
  readonly bit: number
}

function workList(bit: number): WorkList {
  return { nodes: [], at: 0, bit }
}

export function enqueueNode(list: WorkList, node: WorkNode): void {
  if ((node.listed & list.bit) !== 0) return
  node.listed |= list.bit
  list.nodes.push(node)
}

/** Takes the first one off the list. */
export function dequeueNode(list: WorkList): WorkNode | undefined {
  const node = list.nodes[list.at]
  if (node === undefined) return undefined
  list.at++
  node.listed &= ~list.bit
  return node
}

/** The edges on one side of a node, oldest first: two ends of a list through the columns of `Edges`. */
export interface EdgeList {
  first: number
  last: number
  size: number
  /** Sum of the hashes of the ports on the other side, 32 bits: equal sets have equal sums. */
  sum: number
}

/** Edges by number. Each stands in two lists: what comes after its start and what comes before its end. */
export interface Edges {
  /** Exit port of the node it starts at. */
  readonly from: number[]
  /** Entry port of the node it ends at. */
  readonly to: number[]
  readonly out: Links
  readonly in: Links
  /** How many numbers were ever given out, and the first one to give again (-1: none). */
  used: number
  free: number
}

interface Links {
  readonly next: number[]
  readonly previous: number[]
}

/** Room for so many at the same time. */
function edgesFor(most: number): Edges {
  const links = (): Links => ({ next: zeros(most), previous: zeros(most) })
  return { from: zeros(most), to: zeros(most), out: links(), in: links(), used: 0, free: -1 }
}

function link({ next, previous }: Links, list: EdgeList, edge: number, port: number): void {
  next[edge] = -1
  previous[edge] = list.last
  if (list.last >= 0) next[list.last] = edge
  else list.first = edge
  list.last = edge
  list.size++
  list.sum ^= mix(port + 1)
}

function unlink({ next, previous }: Links, list: EdgeList, edge: number, port: number): void {
  const before = at(previous, edge)
  const after = at(next, edge)
  if (before >= 0) next[before] = after
  else list.first = after
  if (after >= 0) previous[after] = before
  else list.last = before
  list.size--
  list.sum ^= mix(port + 1)
}

/** The finaliser of MurmurHash3: spreads small numbers over 32 bits. */
function mix(value: number): number {
  let h = Math.imul(value, 0x9e3779b1) ^ 0x85ebca6b
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

export function addEdge(graph: WorkGraph, from: WorkNode, to: WorkNode): void {
  const { edges } = graph
  const edge = takeNumber(edges)
  edges.from[edge] = from.exit
  edges.to[edge] = to.entry
  link(edges.out, from.after, edge, to.entry)
  link(edges.in, to.before, edge, from.exit)
  enqueueNode(graph.toReduce, from)
  enqueueNode(graph.toReduce, to)
}

export function removeEdge(graph: WorkGraph, edge: number): void {
  const { edges } = graph
  const from = graph.byExit[at(edges.from, edge)]
  const to = graph.byEntry[at(edges.to, edge)]
  if (from === undefined || to === undefined) return
  unlink(edges.out, from.after, edge, to.entry)
  unlink(edges.in, to.before, edge, from.exit)
  forgetEdge(edges, edge)
  enqueueNode(graph.toReduce, from)
  enqueueNode(graph.toReduce, to)
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

export function addNode(graph: WorkGraph, expression: OrderExpression): WorkNode {
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
  enqueueNode(graph.toReduce, node)
  graph.size++
  return node
}

/** Takes a node out with all its edges. */
export function removeNode(graph: WorkGraph, node: WorkNode): void {
  while (node.before.size > 0) removeEdge(graph, node.before.first)
  while (node.after.size > 0) removeEdge(graph, node.after.first)
  node.alive = false
  graph.size--
}
