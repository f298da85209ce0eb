import { replaceEdgesByJoin } from '../../shared/compile/series-parallel.ts'
import { SIGNAL_COST } from '../../shared/compile/steps.ts'
import { nodesAfter, nodesBefore, type WorkGraph, type WorkNode } from '../../shared/compile/work-graph.ts'

interface Cut {
  readonly node: WorkNode
  readonly keep: WorkNode
  readonly score: number
}

/** The best cut of each node that has two or more predecessors. */
export type Cuts = Map<WorkNode, Cut>

/**
 * For an order that holds an N: takes one node out of its knot by keeping one of its in-edges and replacing the others by
 * a join. Every cut removes edges, so this ends. `changed` are the nodes whose neighbours changed since the last cut.
 */
export function cutOneKnot(graph: WorkGraph, cuts: Cuts, changed: Set<WorkNode>): void {
  scoreAgain(graph, cuts, changed)
  const { node } = cheapestCut(cuts)
  const keep = bestCutOf(graph, node)?.keep
  replaceEdgesByJoin(
    graph,
    nodesBefore(graph, node).filter((previous) => previous !== keep),
    node,
  )
}

function scoreAgain(graph: WorkGraph, cuts: Cuts, changed: Set<WorkNode>): void {
  const stale = new Set([...changed].flatMap((node) => [node, ...affected(graph, node)]))
  changed.clear()
  for (const node of cuts.keys()) if (!node.alive) cuts.delete(node)
  for (const node of stale) {
    const cut = node.alive ? bestCutOf(graph, node) : undefined
    if (cut === undefined) cuts.delete(node)
    else cuts.set(node, cut)
  }
}

/**
 * Whose score a changed node is part of: a score looks at predecessors with one or two successors, and at the other of
 * the two. (A predecessor that grows beyond two leaves an old score behind: the choice is then a bit worse, not wrong.)
 */
function affected(graph: WorkGraph, node: WorkNode): readonly WorkNode[] {
  const narrow = nodesBefore(graph, node).filter((previous) => previous.after.size === 2)
  return [
    ...(node.after.size <= 2 ? nodesAfter(graph, node) : []),
    ...narrow.flatMap((previous) => nodesAfter(graph, previous)),
  ]
}

/** Keeps a predecessor with fewest successors; of several the one whose siblings' freedom is worth least. */
function bestCutOf(graph: WorkGraph, node: WorkNode): Cut | undefined {
  const previous = nodesBefore(graph, node)
  if (previous.length < 2) return undefined
  const fewest = Math.min(...previous.map((p) => p.after.size))
  const freed = previous.map((p) => sequencesFreed(graph, p, node))
  const lost = (p: WorkNode, i: number) => (p.after.size === fewest ? (freed[i] ?? 0) : Number.POSITIVE_INFINITY)
  const least = Math.min(...previous.map(lost))
  const keep = previous.find((p, i) => lost(p, i) === least)
  const gain = freed.reduce((sum, part) => sum + part, (fewest === 1 ? 1 : 0) - least)
  return keep && { node, keep, score: gain / (1 + SIGNAL_COST * (previous.length - 1)) }
}

/** What cutting p -> node frees: left with one successor, p can fuse with it now (1) or after another cut (half). */
function sequencesFreed(graph: WorkGraph, p: WorkNode, node: WorkNode): number {
  if (p.after.size !== 2) return 0
  const other = nodesAfter(graph, p).find((next) => next !== node)
  return other?.before.size === 1 ? 1 : 0.5
}

/** The cut that frees most sequences for its cost; of equals the one that comes first in the document. */
function cheapestCut(cuts: Cuts): Cut {
  let best: Cut | undefined
  for (const cut of cuts.values()) {
    if (
      best === undefined ||
      cut.score > best.score ||
      (cut.score === best.score && cut.node.entry < best.node.entry)
    ) {
      best = cut
    }
  }
  // A graph whose nodes have at most one predecessor is a forest, and forests reduce to one node.
  if (best === undefined) throw new TypeError('cutOneKnot() needs a graph that reductions leave knotted')
  return best
}
