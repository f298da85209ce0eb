import type { Machine } from '../compile/asl.ts'
import { compileDag } from '../compile/compile-dag.ts'
import type { Block, Dag } from '../dag/dag.ts'
import { type CompiledMachine, compiledMachines } from './compiled-machines.ts'
import { type CriticalPath, criticalPath } from './critical-path.ts'
import type { DagGraph } from './graph-schema.ts'
import { type TaskCall, taskCallOf } from './machine-size.ts'

/** A checked DAG as nodes and edges. `seconds` is what a block takes, for the critical path. */
export function dagGraph(dag: Dag, seconds: (block: string) => number): DagGraph {
  const { nodes, ...drawn } = drawingOf(dag)
  const { path, length } = pathOf(dag.blocks, seconds)
  const ids = path.flatMap((index) => dag.blocks[index]?.id ?? [])
  const critical = new Set(ids)
  return {
    ...drawn,
    nodes: nodes.map((node) => ({ ...node, critical: critical.has(node.id) })),
    critical_path: { blocks: ids, seconds: length },
  }
}

/** What of a graph does not depend on what its blocks take. */
interface Drawing extends Omit<DagGraph, 'nodes' | 'critical_path'> {
  readonly nodes: readonly Omit<DagGraph['nodes'][number], 'critical'>[]
}

/** Made once a document: it compiles it, and a run of it is looked at again and again. */
const DRAWINGS = new WeakMap<Dag, Drawing>()

function drawingOf(dag: Dag): Drawing {
  const drawing = DRAWINGS.get(dag) ?? draw(dag)
  DRAWINGS.set(dag, drawing)
  return drawing
}

function draw(dag: Dag): Drawing {
  const { blocks } = dag
  const compiled = compileDag(dag)
  const joins = joinReasons(compiledMachines(compiled))
  const ownJoins = Map.groupBy(joins, ({ before }) => before)
  const moduleOf = new Map(compiled.modules.flatMap(({ key, blocks: ids }) => ids.map((id) => [id, key] as const)))
  const layers = layersOf(blocks, pathOf(blocks, () => 1).order)
  return {
    dag: dag.name,
    nodes: blocks.map((block, index) => ({
      ...nodeOf(block),
      layer: layers[index] ?? 0,
      ...(moduleOf.has(block.id) && { module: moduleOf.get(block.id) }),
    })),
    edges: blocks.flatMap((block) => edgesOf(block, ownJoins.get(block.id) ?? [])),
    joins: joins.map(({ before, waits_for, reason }) => ({ before, waits_for, reason })),
    bounces: blocks.flatMap(bouncesOf),
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

function edgesOf({ id, upstream, inputs }: Block, own: readonly PlannedJoin[]): readonly DagGraph['edges'][number][] {
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

/** A wait the structure could not express. */
interface PlannedJoin {
  /** The state, `_wait_<block>`. */
  readonly state: string
  /** The block it stands before. */
  readonly before: string
  /** Blocks that signal it; `_close_<k>` for a bounce module. */
  readonly waits_for: readonly string[]
  readonly reason: string
}

/** One branch on the way down to a state. */
interface Turn {
  readonly parallel: string
  readonly branch: Machine
}

interface Cell {
  readonly machine: string
  readonly turns: readonly Turn[]
}

interface Found {
  readonly joins: Map<string, { readonly state: string; readonly place: Cell }>
  readonly signallers: Map<string, { readonly source: string; readonly place: Cell }[]>
}

/** Every join of the machines with its reason in words, read from the text: where it stands and who signals it. */
export function joinReasons(machines: readonly CompiledMachine[]): readonly PlannedJoin[] {
  const found: Found = { joins: new Map(), signallers: new Map() }
  for (const { name, definition } of machines) collect(found, definition, { machine: name, turns: [] })
  return [...found.joins].map(([join, { state, place }]) => {
    const sources = found.signallers.get(join) ?? []
    const before = state.replace(/^_wait_/, '').replace(/\.\d+$/, '')
    const byCrossing = Map.groupBy(sources, (source) => crossing(source.place, place))
    const reasons = [...byCrossing].map(([crosses, group]) => sentence(namesOf(group), before, crosses))
    return { state, before, waits_for: namesOf(sources), reason: reasons.join(' ') }
  })
}

function collect(found: Found, machine: Machine, place: Cell): void {
  for (const [name, state] of Object.entries(machine.States)) {
    const call = taskCallOf(state)
    if (call !== undefined) note(found, name, call, place)
    if (state.Type === 'Map') collect(found, state.ItemProcessor, place)
    if (state.Type !== 'Parallel') continue
    for (const branch of state.Branches) {
      collect(found, branch, { ...place, turns: [...place.turns, { parallel: name, branch }] })
    }
  }
}

function note({ joins, signallers }: Found, name: string, call: TaskCall, place: Cell): void {
  if (call.join !== undefined) joins.set(call.join, { state: name, place })
  for (const join of call.joins ?? []) {
    const known = signallers.get(join) ?? []
    known.push({ source: call.block ?? name, place })
    signallers.set(join, known)
  }
}

function namesOf(sources: readonly { readonly source: string }[]): readonly string[] {
  return sources.map(({ source }) => source)
}

/** What keeps the structure from ordering the one place before the other. */
function crossing(from: Cell, to: Cell): string {
  if (from.machine !== to.machine) return `crosses from machine ${from.machine} into machine ${to.machine}`
  const at = from.turns.findIndex(({ branch }, depth) => branch !== to.turns[depth]?.branch)
  const here = from.turns[at]
  const there = to.turns[at]
  if (here === undefined) return 'enters a branch that has begun by then'
  if (here.parallel !== there?.parallel) return `leaves ${here.parallel} before all of its branches have ended`
  return `crosses from one branch of ${here.parallel} into another, from ${branchWords(here)} into ${branchWords(there)}`
}

const SHOWN = 3

function branchWords({ branch }: Turn): string {
  return `the one of ${listed(firstBlocks(branch))}`
}

/** The blocks a line of states begins with. */
function firstBlocks({ StartAt, States }: Machine): readonly string[] {
  const state = States[StartAt]
  if (state?.Type === 'Parallel') return state.Branches.slice(0, SHOWN + 1).flatMap(firstBlocks)
  return [StartAt.replace(/^_(?:approve|items|wait)_/, '').replace(/\.\d+$/, '')]
}

function sentence(sources: readonly string[], before: string, crosses: string): string {
  const edges = sources.map((source) => `${source} -> ${before}`)
  const each = sources.length === 1 ? '' : 'each of '
  return `${before} waits for ${listed(sources)} because ${each}${listed(edges)} ${crosses}.`
}

function listed(names: readonly string[]): string {
  if (names.length > SHOWN + 1) return `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '')
}
