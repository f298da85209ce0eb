import type { BounceModule } from '../dag/bounce-modules.ts'
import type { Block, Dag, StepPin } from '../dag/dag.ts'
import { Fault } from '../errors.ts'
import type { MachineText } from '../runs/machine.ts'
import type { Machine } from './asl.ts'
import { type ContractedOrder, contractModules, type OrderNode } from './contract-modules.ts'
import { actingOf, type CompiledBlock } from './emit-block.ts'
import { emitMachine, emitPartMachine, placeholderOfPart } from './emit-machine.ts'
import { type NamedJoin, type NamedSequence, nameSteps, type Signals } from './name-steps.ts'
import { fitsOneMachine, type MachineCaps, splitMachine } from './split-machine.ts'
import type { Upstream } from './topological-order.ts'

/** A DAG as a state machine, and further ones where it is too large for one. */
export interface CompiledDag {
  /** The text, read. */
  readonly definition: Machine
  /** The definition as JSON, functions as placeholders like `${RunBlock}`: same document, same bytes. */
  readonly text: string
  /** Machines the definition starts, as placeholders `${Part1}`; one comes after those it starts itself. */
  readonly parts: readonly MachinePart[]
  /** The waits the structure could not express; `sources` are ids of the blocks that must have ended. */
  readonly joins: readonly NamedJoin[]
  readonly modules: readonly BounceModule[]
  /** What the document does not ask for and its bounce modules bring with them. */
  readonly over_ordered: readonly OverOrdered[]
  readonly figures: {
    readonly blocks: number
    readonly joins: number
    readonly parallels: number
    readonly parts: number
  }
}

export interface MachinePart extends MachineText {
  readonly definition: Machine
}

/** The part of a Dag the compiler looks at: nothing else a user wrote can enter a machine. */
interface CompilableDag {
  readonly blocks: readonly AskingBlock[]
  readonly budget?: Dag['budget']
}

/**
 * A machine is cut at 70 % of the bytes Step Functions takes, and at 80 % of its history events: the rest of those is for calls
 * that Lambda throttles (emit-block.ts), 1,666 of them an execution.
 */
export const CAPS: MachineCaps = { bytes: 700_000, events: 20_000 }

/**
 * Compiles a checked DAG of any size to Amazon States Language (JSONata only): every block starts exactly when its own
 * upstream blocks have ended, at about one state transition a block. Bounce modules are the one exception, and
 * `over_ordered` lists it. See docs/compiler.md. Fault InvalidInput dag_too_large when a piece that cannot be cut
 * exceeds `caps`.
 */
export function compileDag(dag: CompilableDag, caps: MachineCaps = CAPS): CompiledDag {
  if (caps !== CAPS) return compile(dag, caps)
  const compiled = known.get(dag) ?? compile(dag, CAPS)
  known.set(dag, compiled)
  return compiled
}

/** Of documents that are kept: each run of one begins on the same machine. */
const known = new WeakMap<CompilableDag, CompiledDag>()

function compile(dag: CompilableDag, caps: MachineCaps): CompiledDag {
  const blocks = markAskingBlocks(dag.blocks, dag.budget)
  const order = contractModules(blocks, upstreamIndexes(blocks))
  const { sequence, signals, joins, parallels } = nameSteps(order, blocks, '_settle')
  const mayFit = blocks.length * LEAST_BYTES <= caps.bytes
  const whole = mayFit ? emitWhole(sequence, signals, caps) : undefined
  const { text, parts } = whole ?? emitParts(sequence, signals, caps, parallels)
  return readable({
    text,
    parts,
    joins,
    modules: order.nodes.every(({ kind }) => kind === 'block') ? [] : order.nodes.flatMap(moduleOf),
    over_ordered: overOrdered(blocks, order),
    figures: { blocks: blocks.length, joins: joins.length, parallels, parts: parts.length },
  })
}

/** About what a block takes at least (its state and its `_retry_`): more blocks than have room are not written whole. */
const LEAST_BYTES = 800

interface MachineTexts {
  readonly text: string
  readonly parts: readonly MachinePart[]
}

/** One machine, if it has room for everything. */
function emitWhole(sequence: NamedSequence, signals: Signals, caps: MachineCaps): MachineTexts | undefined {
  const text = emitMachine(sequence, signals)
  return fitsOneMachine(sequence, signals, text, caps) ? { text, parts: [] } : undefined
}

function emitParts(sequence: NamedSequence, signals: Signals, caps: MachineCaps, parallels: number): MachineTexts {
  const split = splitMachine(sequence, signals, caps, parallels)
  const parts = split.parts.map((part, i) =>
    readable({ key: placeholderOfPart(i + 1), text: emitPartMachine(part, signals) }),
  )
  return { text: emitMachine(split.main, signals), parts }
}

/** Only who draws or measures a machine needs more than its text; it is read once. */
const READABLE = {
  text: '',
  get definition(): Machine {
    const value = JSON.parse(this.text) as Machine
    Object.defineProperty(this, 'definition', { value })
    return value
  },
}

/**
 * The getter is inherited: an object with one of its own has a hidden class of its own, which keeps the whole text alive
 * until the next full garbage collection.
 */
function readable<T extends MachineText | Omit<CompiledDag, 'definition'>>(
  machine: T,
): T & Pick<CompiledDag, 'definition'> {
  const made: typeof READABLE = Object.create(READABLE)
  return Object.assign(made, machine)
}

function moduleOf(node: OrderNode): readonly BounceModule[] {
  return node.kind === 'module' ? [node.module] : []
}

function upstreamIndexes(blocks: readonly CompiledBlock[]): Upstream {
  const indexOf = new Map<string, number>()
  for (let index = 0; index < blocks.length; index++) indexOf.set(blocks[index]?.id ?? '', index)
  const indexes: number[][] = []
  for (const { id, upstream } of blocks) {
    const row: number[] = []
    for (const source of upstream) row.push(indexOf.get(source) ?? failUnknown(id, source))
    indexes.push(row)
  }
  return indexes
}

function failUnknown(id: string, source: string): never {
  throw new Fault('Bug', 'compile_unknown_block', `Cannot compile block "${id}": there is no block "${source}".`)
}

/**
 * What decides whether a block's machine can ask: gates with `on_fail: ask`, `budget.on_exceed: ask` of its document, and
 * a step with `effect: once` (of a document that is bound to its steps).
 */
export type AskingBlock = Omit<CompiledBlock, 'asks'> & {
  readonly step?: Pick<StepPin, 'effect'>
  readonly pre_gates?: readonly Pick<Block['pre_gates'][number], 'on_fail'>[]
  readonly post_gates?: readonly Pick<Block['post_gates'][number], 'on_fail'>[]
}

/** The blocks with what they may ask; those of a document without questions are the same ones. */
export function markAskingBlocks(blocks: readonly AskingBlock[], budget: Dag['budget']): readonly CompiledBlock[] {
  const asksForMore = budget?.on_exceed === 'ask'
  return blocks.map((block) => {
    const isOnce = block.step?.effect === 'once'
    const ofGates = phaseAsking(block.pre_gates) + phaseAsking(block.post_gates)
    const acts = actingOf(block) !== undefined
    const asked = (asksForMore ? 1 : 0) + (isOnce ? 1 : 0) + ofGates
    // Any call may be one that a person has to be asked about.
    return asked === 0 && !acts ? block : { ...block, asks: { block: asked, items: asksForMore || isOnce || acts } }
  })
}

function phaseAsking(gates: AskingBlock['pre_gates']): 0 | 1 {
  return gates?.some(({ on_fail }) => on_fail === 'ask') === true ? 1 : 0
}

/** A wait the document does not ask for: a bounce module begins and ends as a whole. */
interface OverOrdered {
  /** Ids: `after` starts when `before` has ended, though it does not depend on it. */
  readonly before: string
  readonly after: string
  readonly module: number
  readonly reason: string
}

/**
 * What taking modules for single nodes adds to the order: a module's first blocks wait for everything the module waits
 * for, and whatever waits for one of its blocks waits for all its last ones. Pairs these imply are left out.
 */
function overOrdered(blocks: readonly CompiledBlock[], { nodes }: ContractedOrder): readonly OverOrdered[] {
  if (nodes.every(({ kind }) => kind === 'block')) return []
  const byId = new Map(blocks.map((block) => [block.id, block]))
  return nodes.flatMap((node) => {
    if (node.kind === 'block') return []
    const inside = new Set(node.module.blocks)
    return [...heldBack(node.module, inside, byId), ...heldUp(node.module, inside, blocks, byId)]
  })
}

type ById = ReadonlyMap<string, CompiledBlock>

function heldBack(module: BounceModule, inside: ReadonlySet<string>, byId: ById): readonly OverOrdered[] {
  const outside = (id: string) => (byId.get(id)?.upstream ?? []).filter((source) => !inside.has(source))
  const sources = [...new Set(module.blocks.flatMap(outside))]
  const entries = module.blocks.filter((id) => outside(id).length === (byId.get(id)?.upstream.length ?? 0))
  return entries.flatMap((after) => {
    const waits = ancestors(after, byId)
    const reason = `bounce module ${module.key} runs again as a whole, so it begins when all it waits for has ended`
    return sources
      .filter((before) => !waits.has(before))
      .map((before) => ({ before, after, module: module.key, reason }))
  })
}

function heldUp(
  module: BounceModule,
  inside: ReadonlySet<string>,
  blocks: readonly CompiledBlock[],
  byId: ById,
): readonly OverOrdered[] {
  const reason = `bounce module ${module.key} may run again until its last block has ended, so nothing leaves it before`
  return blocks
    .filter(({ id, upstream }) => !inside.has(id) && upstream.some((source) => inside.has(source)))
    .flatMap(({ id: after }) => {
      const waits = ancestors(after, byId)
      return module.sinks
        .filter((before) => !waits.has(before))
        .map((before) => ({ before, after, module: module.key, reason }))
    })
}

function ancestors(id: string, byId: ById): ReadonlySet<string> {
  const found = new Set(byId.get(id)?.upstream)
  for (const source of found) for (const further of byId.get(source)?.upstream ?? []) found.add(further)
  return found
}
