import { type BounceModule, bounceModules } from '../dag/bounce-modules.ts'
import { at, type Rows, rowsOf } from './adjacency-rows.ts'
import type { CompiledBlock } from './emit-block.ts'
import { arrangeWithJoins } from './join-placement.ts'
import { coreOf } from './parallel-forest.ts'
import { barrierSides, factorBarriers, reduceSeriesParallel, twinBuckets } from './series-parallel.ts'
import { flattenToSteps, type Steps } from './steps.ts'
import type { Upstream } from './topological-order.ts'

import { addEdge, addNode, emptyGraph, type WorkGraph } from './work-graph.ts'

/** What the order is made of: single blocks, and bounce modules with an order of their own inside. Numbers are blocks. */
export interface ContractedOrder {
  readonly nodes: readonly OrderNode[]
  /** By node: the nodes it waits for. */
  readonly upstream: Upstream
}

export type OrderNode =
  | { readonly kind: 'block'; readonly block: number }
  | {
      readonly kind: 'module'
      /** Its first block in the document. */
      readonly block: number
      readonly module: BounceModule
      readonly inside: ContractedOrder
    }

/**
 * Takes each bounce module for one node, with one way in and one way out (docs/dag.md, "Bounce"), and keeps the
 * order within it apart. Nodes are numbered in document order of their first block. `upstream` is by block.
 */
export function contractModules(blocks: readonly CompiledBlock[], upstream: Upstream): ContractedOrder {
  if (blocks.every(({ on_gate_fail = [] }) => on_gate_fail.length === 0)) {
    return { nodes: blocks.map((_, block) => ({ kind: 'block', block })), upstream }
  }
  const indexOf = new Map(blocks.map(({ id }, index) => [id, index]))
  const modules = bounceModules(blocks.map((block, index) => ({ ...block, index })))
  const startOf = new Map<number, BounceModule>()
  /** By block of a module: the module's first block. */
  const within = new Map<number, number>()
  for (const module of modules) {
    const members = indexesOf(module, indexOf)
    for (const member of members) within.set(member, members[0] ?? member)
    startOf.set(members[0] ?? 0, module)
  }
  const firsts = blocks.flatMap((_, v) => ((within.get(v) ?? v) === v ? [v] : []))
  const nodeOf = new Map(firsts.map((first, node) => [first, node]))
  const nodeAt = (v: number) => nodeOf.get(within.get(v) ?? v) ?? -1
  const sources = firsts.map(() => new Set<number>())
  upstream.forEach((before, v) => {
    for (const u of before) if (nodeAt(u) !== nodeAt(v)) sources[nodeAt(v)]?.add(nodeAt(u))
  })
  const nodes = firsts.map((block): OrderNode => {
    const module = startOf.get(block)
    if (module === undefined) return { kind: 'block', block }
    return { kind: 'module', block, module, inside: orderInside(indexesOf(module, indexOf), upstream) }
  })
  return { nodes, upstream: sources.map((set) => [...set]) }
}

function indexesOf(module: BounceModule, indexOf: ReadonlyMap<string, number>): readonly number[] {
  return module.blocks.flatMap((id) => indexOf.get(id) ?? [])
}

function orderInside(members: readonly number[], upstream: Upstream): ContractedOrder {
  const nodeOf = new Map(members.map((block, node) => [block, node]))
  return {
    nodes: members.map((block) => ({ kind: 'block', block })),
    upstream: members.map((v) => (upstream[v] ?? []).flatMap((u) => nodeOf.get(u) ?? [])),
  }
}

/**
 * Turns a transitively reduced order into nested sequences and Parallels, with joins where the order is not
 * series-parallel. Exact: under unlimited parallelism every block starts when its own upstream has ended.
 */
export function decomposeOrder(upstream: Upstream): Steps {
  return decomposeRows(rowsOf(upstream))
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
      if (node !== undefined && source !== undefined) addEdge(graph, source, node)
    }
  }
  return graph
}

/** The same from rows. */
export function decomposeRows(upstream: Rows): Steps {
  const graph = toWorkGraph(upstream)
  const twins = twinBuckets(graph.size)
  reduceSeriesParallel(graph, twins)
  if (graph.size > 1) {
    const sides = barrierSides(graph.size)
    while (factorBarriers(graph, sides)) reduceSeriesParallel(graph, twins)
  }
  if (graph.size > 1) return arrangeWithJoins(coreOf(graph))
  const root = graph.byEntry.find((node) => node.alive)
  return root === undefined ? [] : flattenToSteps(root.expression)
}
