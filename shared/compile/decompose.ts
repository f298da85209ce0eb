import { barrierSides, factorBarriers } from './barriers.ts'
import { coreOf } from './core.ts'
import { addNode, toggleEdge } from './edit-graph.ts'
import { flatten, type Steps } from './flatten.ts'
import { layLanes } from './lay-lanes.ts'
import type { Upstream } from './reduce.ts'
import { reduceSeriesParallel, twinBuckets } from './series-parallel.ts'
import { emptyGraph, nodesAt, type WorkGraph } from './work-graph.ts'

/**
 * Turns a transitively reduced order into nested sequences and Parallels, with joins where the order is not
 * series-parallel. Exact: under unlimited parallelism every block starts when its own upstream has ended.
 */
export function decompose(upstream: Upstream): Steps {
  const graph = toWorkGraph(upstream)
  const twins = twinBuckets()
  const sides = barrierSides()
  do {
    reduceSeriesParallel(graph, twins)
  } while (factorBarriers(graph, sides))
  if (graph.size > 1) return layLanes(coreOf(graph))
  const root = graph.byEntry.find((node) => node.alive)
  return root === undefined ? [] : flatten(root.expression)
}

/** One node a block. */
function toWorkGraph(upstream: Upstream): WorkGraph {
  const graph = emptyGraph()
  const nodes = upstream.map((_, block) => addNode(graph, { kind: 'block', block, holdsBlock: true, depth: 0 }))
  nodes.forEach((node, v) => {
    for (const p of nodesAt(nodes, upstream[v] ?? [])) toggleEdge(graph, p, node)
  })
  return graph
}
