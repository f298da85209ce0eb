import { rowsOf } from '../../shared/compile/adjacency-rows.ts'
import { toWorkGraph } from '../../shared/compile/contract-modules.ts'
import {
  barrierSides,
  factorBarriers,
  reduceSeriesParallel,
  twinBuckets,
} from '../../shared/compile/series-parallel.ts'
import { flattenToSteps, type Steps } from '../../shared/compile/steps.ts'
import type { Upstream } from '../../shared/compile/topological-order.ts'
import type { WorkNode } from '../../shared/compile/work-graph.ts'
import { type Cuts, cutOneKnot } from './cut-knots.ts'

/**
 * The plain hybrid without look-ahead: series-parallel reductions, and wherever they are stuck the cut that frees most
 * for its cost, one after the other. What this compiler did before it laid lanes; quadratic in the number of cuts.
 */
export function plainHybrid(upstream: Upstream): Steps {
  const graph = toWorkGraph(rowsOf(upstream))
  const twins = twinBuckets(graph.size)
  const sides = barrierSides(graph.size)
  const cuts: Cuts = new Map()
  const changed = new Set<WorkNode>()
  for (;;) {
    for (const node of graph.toReduce.nodes.slice(graph.toReduce.at)) changed.add(node)
    reduceSeriesParallel(graph, twins)
    for (const node of graph.toFactor.nodes.slice(graph.toFactor.at)) changed.add(node)
    if (factorBarriers(graph, sides)) continue
    if (graph.size <= 1) break
    cutOneKnot(graph, cuts, changed)
  }
  const root = graph.byEntry.find((node) => node.alive)
  return root === undefined ? [] : flattenToSteps(root.expression)
}
