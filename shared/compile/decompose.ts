import { barrierSides, factorBarriers } from './barriers.ts'
import { coreOf } from './core.ts'
import { drawEdge } from './draw-edge.ts'
import { addNode } from './edit-graph.ts'
import { flatten, type Steps } from './flatten.ts'
import { layLanes } from './lay-lanes.ts'
import type { Upstream } from './reduce.ts'
import { type Rows, rowsOf } from './rows.ts'
import { reduceSeriesParallel, twinBuckets } from './series-parallel.ts'
import { emptyGraph, type WorkGraph } from './work-graph.ts'
import { at } from './zeros.ts'

/**
 * Turns a transitively reduced order into nested sequences and Parallels, with joins where the order is not
 * series-parallel. Exact: under unlimited parallelism every block starts when its own upstream has ended.
 */
export function decompose(upstream: Upstream): Steps {
  return stepsOfRows(rowsOf(upstream))
}

/** The same from rows. */
export function stepsOfRows(upstream: Rows): Steps {
  const graph = toWorkGraph(upstream)
  const twins = twinBuckets(graph.size)
  reduceSeriesParallel(graph, twins)
  if (graph.size > 1) {
    const sides = barrierSides(graph.size)
    while (factorBarriers(graph, sides)) reduceSeriesParallel(graph, twins)
  }
  if (graph.size > 1) return layLanes(coreOf(graph))
  const root = graph.byEntry.find((node) => node.alive)
  return root === undefined ? [] : flatten(root.expression)
}

/** One node a block. */
export function toWorkGraph({ starts, items }: Rows): WorkGraph {
  const graph = emptyGraph(items.length)
  const size = starts.length - 1
  for (let block = 0; block < size; block++) addNode(graph, { kind: 'block', block, holdsBlock: true, depth: 0 })
  for (let v = 0; v < size; v++) {
    const node = graph.byEntry[v]
    const end = at(starts, v + 1)
    for (let i = at(starts, v); i < end; i++) {
      const source = graph.byEntry[at(items, i)]
      if (node !== undefined && source !== undefined) drawEdge(graph, source, node)
    }
  }
  return graph
}
