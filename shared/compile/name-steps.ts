import type { BounceModule } from '../dag/bounce-modules.ts'
import { zeros } from './adjacency-rows.ts'
import { type ContractedOrder, decomposeRows, type OrderNode } from './contract-modules.ts'
import { type CompiledBlock, entryOfBlock } from './emit-block.ts'
import type { Step, Steps } from './steps.ts'
import { transitiveReduction } from './transitive-reduction.ts'

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
