import type { BounceModule } from '../dag/bounce-modules.ts'
import type { Dag } from '../dag/dag.ts'
import { Fault } from '../errors.ts'
import type { MachineText } from '../runs/machine.ts'
import { type AskingBlock, askingBlocks } from './asking-blocks.ts'
import type { Machine } from './asl.ts'
import type { CompiledBlock } from './compiled-block.ts'
import { contractModules, type OrderNode } from './contract-modules.ts'
import { emitMachine, emitPiece } from './emit-machine.ts'
import { placeholderOfPart } from './emit-part.ts'
import { type NamedJoin, type NamedSequence, nameSteps, type Signals } from './name-steps.ts'
import { type OverOrdered, overOrdered } from './over-ordered.ts'
import type { Upstream } from './reduce.ts'
import { type Caps, fitsWhole, splitMachine } from './split-machine.ts'

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
export interface CompilableDag {
  readonly blocks: readonly AskingBlock[]
  readonly budget?: Dag['budget']
}

/** A machine is cut at 70 % of Step Functions' 1 MB and 80 % of its 25,000 events. */
const CAPS: Caps = { bytes: 700_000, events: 20_000 }

/**
 * Compiles a checked DAG of any size to Amazon States Language (JSONata only): every block starts exactly when its own
 * upstream blocks have ended, at about one state transition a block. Bounce modules are the one exception, and
 * `over_ordered` lists it. See docs/compiler.md. Fault InvalidInput dag_too_large when a piece that cannot be cut
 * exceeds `caps`.
 */
export function compileDag(dag: CompilableDag, caps: Caps = CAPS): CompiledDag {
  const blocks = askingBlocks(dag.blocks, dag.budget)
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
function emitWhole(sequence: NamedSequence, signals: Signals, caps: Caps): MachineTexts | undefined {
  const text = emitMachine(sequence, signals)
  return fitsWhole(sequence, signals, text, caps) ? { text, parts: [] } : undefined
}

function emitParts(sequence: NamedSequence, signals: Signals, caps: Caps, parallels: number): MachineTexts {
  const split = splitMachine(sequence, signals, caps, parallels)
  const parts = split.parts.map((part, i) =>
    readable({ key: placeholderOfPart(i + 1), text: emitPiece(part, signals) }),
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
