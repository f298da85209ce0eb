import { type BounceModule, bounceModules } from '../dag/bounce-modules.ts'
import { at, type Rows, rowsOf, zeros } from './adjacency-rows.ts'
import { type CompiledBlock, entryOfBlock } from './emit-block.ts'
import { arrangeWithJoins } from './join-placement.ts'
import { coreOf } from './parallel-forest.ts'
import { barrierSides, factorBarriers, reduceSeriesParallel, twinBuckets } from './series-parallel.ts'
import { flattenToSteps, type Step, type Steps } from './steps.ts'
import { transitiveReduction, type Upstream } from './transitive-reduction.ts'
import { addEdge, addNode, emptyGraph, type WorkGraph } from './work-graph.ts'

/** A step with the name of the state it begins with. */
export type NamedStep =
  | { readonly kind: 'block'; readonly entry: string; readonly block: CompiledBlock }
  | { readonly kind: 'wait'; readonly entry: string; readonly join: NamedJoin }
  | { readonly kind: 'par'; readonly entry: string; readonly branches: readonly NamedSequence[] }
  /** Runs `body` until nothing bounces. */
  | { readonly kind: 'module'; readonly entry: string; readonly module: BounceModule; readonly body: NamedSequence }
  /** Steps moved into a machine of their own; `part` is its number. */
  | { readonly kind: 'part'; readonly entry: string; readonly part: number }

export interface NamedSequence {
  readonly entry: string
  readonly steps: readonly NamedStep[]
}

export interface NamedJoin {
  /** Key of its item in the store: the block it stands before in base 36, then `.2` for a second one there. */
  readonly id: string
  /** Ids of the blocks that signal it; for those of a bounce module its exit does, when it leaves. */
  readonly sources: readonly string[]
}

/** Joins to signal, by who does it: a block id, or the exit of a bounce module (`exitOf`). */
export type Signals = ReadonlyMap<string, readonly string[]>

interface Naming {
  readonly blocks: readonly CompiledBlock[]
  readonly joins: NamedJoin[]
  readonly signals: Map<string, string[]>
  /** By block: joins before it so far. */
  readonly joinsBefore: number[]
  parallels: number
}

/** A bounce module's last state but one. Block ids begin with a letter, so it is no block's `_close_`. */
export function exitStateOf({ key }: BounceModule): string {
  return `_close_${key}`
}

/**
 * Finds the steps of an order and names them: joins `_wait_<block id>` and Parallels `_parallel_<n>`, both in the order of
 * the machine's text. A block id neither begins with `_` nor holds a dot, so no name of ours meets a block's. `entry` is
 * where an empty DAG begins.
 */
export function nameSteps(order: ContractedOrder, blocks: readonly CompiledBlock[], entry: string) {
  const naming: Naming = { blocks, joins: [], signals: new Map(), joinsBefore: zeros(blocks.length), parallels: 0 }
  const sequence = nameOrder(naming, order, entry)
  const { joins, parallels } = naming
  const signals: Signals = naming.signals
  return { sequence, joins, signals, parallels }
}

function nameOrder(naming: Naming, { nodes, upstream }: ContractedOrder, entry: string): NamedSequence {
  return nameSequence(naming, nodes, decomposeRows(transitiveReduction(upstream)), entry)
}

function nameSequence(naming: Naming, nodes: readonly OrderNode[], steps: Steps, entry: string): NamedSequence {
  const named = steps.map((step) => nameStep(naming, nodes, step))
  return { entry: named[0]?.entry ?? entry, steps: named }
}

function nameStep(naming: Naming, nodes: readonly OrderNode[], step: Step): NamedStep {
  switch (step.kind) {
    case 'block':
      return nameNode(naming, itemAt(nodes, step.block))
    case 'wait':
      return nameWait(naming, nodes, step.join)
    case 'par': {
      const entry = `_parallel_${++naming.parallels}`
      const branches = step.branches.map((branch) => nameSequence(naming, nodes, branch, entry))
      return { kind: 'par', entry, branches }
    }
  }
}

function nameNode(naming: Naming, node: OrderNode): NamedStep {
  if (node.kind === 'block') {
    const block = itemAt(naming.blocks, node.block)
    return { kind: 'block', entry: entryOfBlock(block), block }
  }
  const body = nameOrder(naming, node.inside, '')
  return { kind: 'module', entry: body.entry, module: node.module, body }
}

function nameWait(
  naming: Naming,
  nodes: readonly OrderNode[],
  { before, sources }: { readonly before: number; readonly sources: readonly number[] },
): NamedStep {
  const { block } = itemAt(nodes, before)
  const { id } = itemAt(naming.blocks, block)
  const nth = (naming.joinsBefore[block] ?? 0) + 1
  naming.joinsBefore[block] = nth
  const suffix = nth === 1 ? '' : `.${nth}`
  const key = `${block.toString(36)}${suffix}`
  const ids: string[] = []
  for (const source of sources) signalFrom(naming, itemAt(nodes, source), key, ids)
  const join = { id: key, sources: ids }
  naming.joins.push(join)
  return { kind: 'wait', entry: `_wait_${id}${suffix}`, join }
}

/** Whoever tells the join that a node has ended has it among its signals; `ids` get those the join counts. */
function signalFrom({ blocks, signals }: Naming, node: OrderNode, join: string, ids: string[]): void {
  const name = node.kind === 'module' ? exitStateOf(node.module) : itemAt(blocks, node.block).id
  if (node.kind === 'module') ids.push(...node.module.sinks)
  else ids.push(name)
  const known = signals.get(name)
  if (known === undefined) signals.set(name, [join])
  else known.push(join)
}

function itemAt<T>(list: readonly T[], index: number): T {
  const item = list[index]
  if (item === undefined) throw new RangeError(`no block or node of index ${index} among ${list.length}`)
  return item
}

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

/** The same from rows. */
function decomposeRows(upstream: Rows): Steps {
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
