import { at, zeros } from './adjacency-rows.ts'
import { firstBlocks, type Join, lastBlocks, type OrderExpression, pair, SIGNAL_COST } from './steps.ts'
import {
  addEdge,
  addNode,
  dequeueNode,
  type EdgeList,
  type Edges,
  enqueueNode,
  forgetEdge,
  nodesAfter,
  nodesBefore,
  removeEdge,
  removeNode,
  type WorkGraph,
  type WorkNode,
} from './work-graph.ts'

/**
 * How deep Parallels nest. A deeper piece becomes a branch of the outermost Parallel, with a join where it was cut off:
 * whoever reads the machine as JSON (Step Functions, validators, our interpreter) does so recursively.
 */
export const MAX_DEPTH = 64

/** Nodes by both neighbour sets: two with the same are parallel. */
export function twinBuckets(nodes: number): Buckets {
  return bucketsFor(nodes, ({ before, after }) => (before.sum + Math.imul(after.sum, 3)) | 0)
}

/**
 * Step 2 (docs/compiler.md, "How it works"): u -> v with one successor and one predecessor become a sequence, nodes
 * with the same predecessors and successors a Parallel, a barrier with one neighbour on a side becomes plain edges,
 * until nothing changes. Every rule keeps the order of the blocks exactly. Only changed nodes are looked at:
 * near-linear.
 */
export function reduceSeriesParallel(graph: WorkGraph, twins: Buckets): void {
  for (let node = dequeueNode(graph.toReduce); node !== undefined; node = dequeueNode(graph.toReduce)) {
    if (!node.alive || fuseNeighbour(graph, node) || dissolveBarrier(graph, node) || mergeTwin(graph, twins, node)) {
      continue
    }
    enqueueNode(graph.toFactor, node)
  }
}

function fuseNeighbour(graph: WorkGraph, node: WorkNode): boolean {
  const { edges, byEntry, byExit } = graph
  const { before, after } = node
  const next = after.size === 1 ? byEntry[at(edges.to, after.first)] : undefined
  if (next !== undefined && next.before.size === 1) return fuse(graph, node, next)
  const previous = before.size === 1 ? byExit[at(edges.from, before.first)] : undefined
  return previous !== undefined && previous.after.size === 1 && fuse(graph, previous, node)
}

function fuse(graph: WorkGraph, first: WorkNode, second: WorkNode): true {
  if (isTooDeep(first.expression, second.expression)) {
    replaceEdgesByJoin(graph, [first], second)
    return true
  }
  forgetEdge(graph.edges, first.after.first)
  first.expression = pair('seq', first.expression, second.expression)
  first.exit = second.exit
  first.after = second.after
  graph.byExit[second.exit] = first
  second.before.first = -1
  second.before.size = 0
  second.alive = false
  graph.size--
  enqueueNode(graph.toReduce, first)
  return true
}

/** Pieces that only wait or order have no depth of their own: they may stay. */
function isTooDeep(first: OrderExpression, second: OrderExpression): boolean {
  return first.holdsBlock && second.holdsBlock && Math.max(first.depth, second.depth) >= MAX_DEPTH
}

/**
 * Cuts leave barriers behind that say no more than plain edges do (one neighbour on a side), and waits nobody comes
 * after (whoever did has a join of its own now).
 */
function dissolveBarrier(graph: WorkGraph, node: WorkNode): boolean {
  if (node.expression.holdsBlock || !isIdle(node)) return false
  const before = nodesBefore(graph, node)
  const after = nodesAfter(graph, node)
  removeNode(graph, node)
  for (const p of before) for (const s of after) addEdge(graph, p, s)
  return true
}

function isIdle({ expression, before, after }: WorkNode): boolean {
  return after.size === 0 || (expression.kind === 'none' && Math.min(before.size, after.size) < 2)
}

function mergeTwin(graph: WorkGraph, twins: Buckets, node: WorkNode): boolean {
  if (fileNode(twins, node) < 2) return false
  for (const twin of livingWith(twins, node)) {
    if (twin === node || !areTwins(graph, twin, node)) continue
    removeNode(graph, node)
    twin.expression = pair('par', twin.expression, node.expression)
    enqueueNode(graph.toReduce, twin)
    return true
  }
  return false
}

function areTwins({ edges }: WorkGraph, a: WorkNode, b: WorkNode): boolean {
  return sameNeighbours(edges, 'before', a.before, b.before) && sameNeighbours(edges, 'after', a.after, b.after)
}

/** One direction to look in: nodes filed by the set of their successors (`after`) or predecessors (`before`). */
interface Side {
  readonly name: 'after' | 'before'
  readonly buckets: Buckets
}
type Sides = readonly Side[]

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
  for (let node = dequeueNode(graph.toFactor); node !== undefined; node = dequeueNode(graph.toFactor)) {
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
  for (const node of [...from.slice(0, 1), ...to]) enqueueNode(graph.toReduce, node)
  for (const mate of name === 'after' ? from : to) while (mate[name].size > 0) removeEdge(graph, mate[name].first)
  for (const u of from) addEdge(graph, u, barrier)
  for (const v of to) addEdge(graph, barrier, v)
}

/**
 * Replaces edges into a node by a join right before it, signalled by the last blocks of where they came from. No
 * deadlock is possible: structure and joins together hold the DAG's own order and no other, so what stands behind the
 * wait comes after the node there, and a source comes before it.
 */
export function replaceEdgesByJoin(graph: WorkGraph, previous: readonly WorkNode[], node: WorkNode): void {
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
  if (edge >= 0) removeEdge(graph, edge)
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

/**
 * Nodes by a key of their neighbours, oldest first: a table of lists of entries. Entries go stale when a node changes;
 * they are dropped when next seen.
 */
interface Buckets {
  readonly keyOf: (node: WorkNode) => number
  /** By the last bits of a key, the first entry there. Entries are numbered from 1; 0 is none. */
  readonly first: number[]
  /** By entry. */
  readonly next: number[]
  readonly keys: number[]
  readonly nodes: (WorkNode | undefined)[]
}

/** A table that is quick for about so many nodes. */
function bucketsFor(nodes: number, keyOf: (node: WorkNode) => number): Buckets {
  const places = 1 << (32 - Math.clz32(nodes))
  return { keyOf, first: zeros(places), next: [0], keys: [0], nodes: [undefined] }
}

/** Files the node under its present key, behind those living there already. Answers how many do, itself included. */
function fileNode(buckets: Buckets, node: WorkNode): number {
  const { first, next, keys, nodes } = buckets
  const key = buckets.keyOf(node)
  let count = 0
  let last = 0
  let isFiled = false
  for (let entry = at(first, bucketOf(buckets, key)); entry > 0; entry = next[entry] ?? 0) {
    if (keys[entry] === key) {
      if (isStale(buckets, entry)) {
        chain(buckets, key, last, next[entry] ?? 0)
        continue
      }
      if (nodes[entry] === node) isFiled = true
      count++
    }
    last = entry
  }
  if (isFiled) return count
  chain(buckets, key, last, nodes.length)
  nodes.push(node)
  keys.push(key)
  next.push(0)
  return count + 1
}

/** Everybody living where the node has just been filed. */
function livingWith(buckets: Buckets, node: WorkNode): readonly WorkNode[] {
  const { first, next, keys, nodes } = buckets
  const key = buckets.keyOf(node)
  const living: WorkNode[] = []
  for (let entry = at(first, bucketOf(buckets, key)); entry > 0; entry = next[entry] ?? 0) {
    const other = nodes[entry]
    if (keys[entry] === key && other !== undefined) living.push(other)
  }
  return living
}

function bucketOf({ first }: Buckets, key: number): number {
  return key & (first.length - 1)
}

function isStale({ keyOf, keys, nodes }: Buckets, entry: number): boolean {
  const node = nodes[entry]
  return node === undefined || !node.alive || keyOf(node) !== keys[entry]
}

/** Lets an entry, or the place itself, lead to another entry. */
function chain(buckets: Buckets, key: number, last: number, entry: number): void {
  if (last === 0) buckets.first[bucketOf(buckets, key)] = entry
  else buckets.next[last] = entry
}

/** Whether two nodes have the same predecessors, by the lists of what comes before them; or successors, by the others. */
function sameNeighbours(edges: Edges, side: 'before' | 'after', a: EdgeList, b: EdgeList): boolean {
  if (a.size !== b.size || a.sum !== b.sum) return false
  const { next } = side === 'before' ? edges.in : edges.out
  const ports = side === 'before' ? edges.from : edges.to
  let [i, j] = [a.first, b.first]
  while (i >= 0 && ports[i] === ports[j]) {
    i = at(next, i)
    j = at(next, j)
  }
  return i < 0 || samePorts(portsOf(ports, next, i), portsOf(ports, next, j))
}

/** Lists mostly are in the same order: only what differs is sorted. */
function portsOf(ports: number[], next: number[], first: number): number[] {
  const found: number[] = []
  for (let edge = first; edge >= 0; edge = at(next, edge)) found.push(at(ports, edge))
  return found.sort((a, b) => a - b)
}

function samePorts(a: number[], b: number[]): boolean {
  return a.every((port, i) => port === b[i])
}
