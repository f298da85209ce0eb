import { type Buckets, bucketsFor, fileNode, livingWith } from './buckets.ts'
import { drawEdge, forgetEdge } from './draw-edge.ts'
import { removeNode } from './edit-graph.ts'
import { type Expression, pair } from './expression.ts'
import { sameNeighbours } from './same-neighbours.ts'
import { waitInstead } from './wait-instead.ts'
import { nodesAfter, nodesBefore, type WorkGraph, type WorkNode } from './work-graph.ts'
import { enlist, nextOf } from './work-list.ts'
import { at } from './zeros.ts'

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
  for (let node = nextOf(graph.toReduce); node !== undefined; node = nextOf(graph.toReduce)) {
    if (!node.alive || fuseNeighbour(graph, node) || dissolveBarrier(graph, node) || mergeTwin(graph, twins, node)) {
      continue
    }
    enlist(graph.toFactor, node)
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
    waitInstead(graph, [first], second)
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
  enlist(graph.toReduce, first)
  return true
}

/** Pieces that only wait or order have no depth of their own: they may stay. */
function isTooDeep(first: Expression, second: Expression): boolean {
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
  for (const p of before) for (const s of after) drawEdge(graph, p, s)
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
    enlist(graph.toReduce, twin)
    return true
  }
  return false
}

function areTwins({ edges }: WorkGraph, a: WorkNode, b: WorkNode): boolean {
  return sameNeighbours(edges, 'before', a.before, b.before) && sameNeighbours(edges, 'after', a.after, b.after)
}
