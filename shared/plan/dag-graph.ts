import { compileDag } from '../compile/compile-dag.ts'
import type { Block, Dag } from '../dag/dag.ts'
import { compiledMachines } from './compiled-machines.ts'
import { type CriticalPath, criticalPath } from './critical-path.ts'
import type { DagGraph } from './graph.ts'
import { joinReasons, type PlannedJoin } from './join-reasons.ts'

/** A checked DAG as nodes and edges. `seconds` is what a block takes, for the critical path. */
export function dagGraph(dag: Dag, seconds: (block: string) => number): DagGraph {
  const { blocks } = dag
  const compiled = compileDag(dag)
  const joins = joinReasons(compiledMachines(compiled))
  const moduleOf = new Map(compiled.modules.flatMap(({ key, blocks: ids }) => ids.map((id) => [id, key] as const)))
  const path = pathOf(blocks, seconds)
  const ids = path.path.flatMap((index) => blocks[index]?.id ?? [])
  const layers = layersOf(blocks, path.order)
  const critical = new Set(ids)
  return {
    dag: dag.name,
    nodes: blocks.map((block, index) => ({
      ...nodeOf(block),
      layer: layers[index] ?? 0,
      ...(moduleOf.has(block.id) && { module: moduleOf.get(block.id) }),
      critical: critical.has(block.id),
    })),
    edges: blocks.flatMap((block) => edgesOf(block, joins)),
    joins: joins.map(({ before, waits_for, reason }) => ({ before, waits_for, reason })),
    bounces: blocks.flatMap(bouncesOf),
    critical_path: { blocks: ids, seconds: path.length },
  }
}

function pathOf(blocks: readonly Block[], seconds: (block: string) => number): CriticalPath {
  const indexOf = new Map(blocks.map(({ id }, index) => [id, index]))
  const upstream = blocks.map((block) => block.upstream.flatMap((id) => indexOf.get(id) ?? []))
  const path = criticalPath(
    upstream,
    blocks.map(({ id }) => seconds(id)),
  )
  if ('cycle' in path) throw new TypeError('dagGraph() needs a checked document, which has no cycle')
  return path
}

function layersOf(blocks: readonly Block[], order: readonly number[]): readonly number[] {
  const layers = new Array<number>(blocks.length).fill(0)
  const indexOf = new Map(blocks.map(({ id }, index) => [id, index]))
  for (const v of order) {
    const above = blocks[v]?.upstream.map((id) => layers[indexOf.get(id) ?? -1] ?? 0) ?? []
    layers[v] = Math.max(-1, ...above) + 1
  }
  return layers
}

function nodeOf(block: Block) {
  return {
    id: block.id,
    name: block.name,
    mode: block.mode,
    pre_gates: block.pre_gates.map(({ name }) => name),
    post_gates: [...block.post_gates, ...(block.foreach?.item_gates ?? [])].map(({ name }) => name),
    approval: block.approval !== undefined,
    foreach: block.foreach !== undefined,
    when: block.when !== undefined || block.depends !== undefined,
    cached: block.cache !== undefined,
    ...(block.mode === 'dag' && { child: block.dag.name }),
  }
}

function edgesOf({ id, upstream, inputs }: Block, joins: readonly PlannedJoin[]): readonly DagGraph['edges'][number][] {
  const own = joins.filter(({ before }) => before === id)
  return upstream.map((from) => ({
    from,
    to: id,
    wires: Object.entries(inputs).flatMap(([port, input]) =>
      input.from?.block === from ? [`${input.from.output} -> ${port}`] : [],
    ),
    join: own.some(({ waits_for }) => waits_for.includes(from)),
  }))
}

function bouncesOf({ id, on_gate_fail = [] }: Block): readonly DagGraph['bounces'][number][] {
  return on_gate_fail.map(({ when_gate, route_to, max_bounces, reset_blocks }) => ({
    from: id,
    to: route_to,
    when_gate,
    max_bounces,
    resets: reset_blocks,
  }))
}
