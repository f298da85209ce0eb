import { opensChild } from '../dag/dag.ts'
import { isNativeHandler } from '../dag/native-call.ts'
import { Fault } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { actingOf, type CompiledBlock, type Emission, isStep } from './emit-block.ts'
import { fitsOnceBound, HOLD_BYTES, holdBytes, stepBytes } from './emit-machine.ts'
import type { NamedSequence, NamedStep, Signals } from './name-steps.ts'

/** What one machine may hold. Step Functions takes 1 MB of text and 25,000 history events. */
export interface MachineCaps {
  readonly bytes: number
  readonly events: number
}

interface SplitMachine {
  readonly main: NamedSequence
  /** Part k is `parts[k - 1]`; a part comes after the parts it starts. */
  readonly parts: readonly NamedSequence[]
}

/** Whether one machine has room for all steps; `text` is the machine written whole, which also says its bytes. */
export function fitsOneMachine({ steps }: NamedSequence, signals: Signals, text: string, caps: MachineCaps): boolean {
  const scale: Scale = { signals, epoch: false, only: 'events' }
  const { events } = weighSteps(steps, scale)
  return events + FRAME.events <= caps.events && fitsOnceBound(text, caps.bytes)
}

/** What every machine has besides its steps. */
const FRAME: MachineCaps = { bytes: 2_500 + HOLD_BYTES, events: 20 }

/**
 * Moves pieces of a machine that exceeds its caps into machines of their own, bottom-up: consecutive steps of a sequence,
 * or branches of a Parallel. Neither adds any order. A piece is as large as a machine may be, and the largest go first,
 * so few are needed. A bounce module is never cut. `parallels` is how many Parallels have a name already.
 */
export function splitMachine(
  sequence: NamedSequence,
  signals: Signals,
  caps: MachineCaps,
  parallels: number,
): SplitMachine {
  const cap = { bytes: caps.bytes - FRAME.bytes, events: caps.events - FRAME.events }
  const packing: Packing = { cap, scale: { signals, epoch: false, known: new Map() }, parts: [], parallels }
  const { steps } = fitSteps(packing, sequence.steps, cap)
  return { main: sequenceOf(steps, sequence.entry), parts: packing.parts }
}

interface Packing {
  readonly cap: MachineCaps
  readonly scale: Scale
  readonly parts: NamedSequence[]
  parallels: number
}

/** A run of steps that stays together: one step of a sequence, or one branch of a Parallel. */
interface Piece {
  readonly steps: readonly NamedStep[]
  readonly weight: Weight
}

function fitSteps(packing: Packing, steps: readonly NamedStep[], cap: MachineCaps): Piece {
  const { scale } = packing
  const weights = steps.map((step) => weighSteps([step], scale))
  const whole = { steps, weight: total(weights) }
  if (!exceeds(whole.weight, cap)) return whole
  const pieces = steps.map((step, i) => fitStep(packing, step, weights[i] ?? whole.weight))
  const joined = (group: readonly Piece[]) => group.flatMap((piece) => piece.steps)
  const fitted = fitPieces(packing, pieces, cap, joined).flatMap((piece) => piece.steps)
  return { steps: fitted, weight: weighSteps(fitted, scale) }
}

function fitStep(packing: Packing, step: NamedStep, weight: Weight): Piece {
  const { cap } = packing
  if (!exceeds(weight, cap)) return { steps: [step], weight }
  if (step.kind === 'par') return fitBranches(packing, step)
  const sure = { ...weight, events: weight.surely }
  if (exceeds(sure, cap)) throw tooLarge(step, sure, cap)
  // Its lists may be shorter than they are allowed to be: it gets a machine for itself.
  return { steps: [step], weight: { ...weight, events: cap.events } }
}

function fitBranches(packing: Packing, step: Extract<NamedStep, { kind: 'par' }>): Piece {
  const { cap } = packing
  const shell = shellOf(step.branches.length)
  const room = { bytes: cap.bytes - shell.bytes, events: cap.events - shell.events }
  const pieces = step.branches.map((branch) => withHold(fitSteps(packing, branch.steps, room)))
  const joined = (group: readonly Piece[]): readonly NamedStep[] => {
    const branches = group.map(({ steps }) => sequenceOf(steps, ''))
    if (branches.length === 1) return branches[0]?.steps ?? []
    packing.parallels += 1
    return [{ kind: 'par', entry: `_parallel_${packing.parallels}`, branches }]
  }
  const fitted = fitPieces(packing, pieces, room, joined)
  const branches = fitted.map(({ steps }) => sequenceOf(steps, ''))
  return { steps: [{ ...step, branches }], weight: total([...fitted.map(({ weight }) => weight), shell]) }
}

/** As a branch of its own. */
function withHold({ steps, weight }: Piece): Piece {
  return { steps, weight: { ...weight, bytes: weight.bytes + holdBytes(steps) } }
}

/** Moves groups of neighbours into parts, the heaviest first, until the rest fits; then parts of parts. */
function fitPieces(
  packing: Packing,
  pieces: readonly Piece[],
  cap: MachineCaps,
  joined: (group: readonly Piece[]) => readonly NamedStep[],
): readonly Piece[] {
  let fitted = pieces
  while (exceeds(total(fitted.map(({ weight }) => weight)), cap)) {
    const groups = groupNeighbours(fitted, cap).map((group) => ({
      group,
      weight: total(group.map((one) => one.weight)),
    }))
    const part = weighPart(packing)
    const heaviest = groups
      .filter(({ weight }) => share(weight, cap) > share(part, cap))
      .sort((a, b) => share(b.weight, cap) - share(a.weight, cap))
    let rest = total(groups.map(({ weight }) => weight))
    const moved = new Set<readonly Piece[]>()
    for (const { group, weight } of heaviest) {
      if (!exceeds(rest, cap)) break
      moved.add(group)
      rest = total([rest, part, { bytes: -weight.bytes, events: -weight.events, surely: -weight.surely }])
    }
    const [first] = fitted.flatMap(({ steps }) => steps)
    if (moved.size === 0) throw tooLarge(first, rest, cap)
    fitted = groups.flatMap(({ group }) => (moved.has(group) ? [movePart(packing, joined(group))] : group))
  }
  return fitted
}

function groupNeighbours(pieces: readonly Piece[], cap: MachineCaps): readonly (readonly Piece[])[] {
  const groups: Piece[][] = []
  let weight: Weight | undefined
  for (const piece of pieces) {
    const grown: Weight = weight === undefined ? piece.weight : total([weight, piece.weight])
    if (weight === undefined || exceeds(grown, cap)) {
      groups.push([piece])
      weight = piece.weight
    } else {
      groups.at(-1)?.push(piece)
      weight = grown
    }
  }
  return groups
}

function movePart(packing: Packing, steps: readonly NamedStep[]): Piece {
  const { parts, scale } = packing
  parts.push(sequenceOf(steps, ''))
  const step = partStep(parts.length)
  return { steps: [step], weight: weighSteps([step], scale) }
}

function weighPart({ parts, scale }: Packing): Weight {
  return weighSteps([partStep(parts.length + 1)], scale)
}

function partStep(part: number): NamedStep {
  return { kind: 'part', entry: `_part_${part}`, part }
}

function sequenceOf(steps: readonly NamedStep[], entry: string): NamedSequence {
  return { entry: steps[0]?.entry ?? entry, steps }
}

function exceeds({ bytes, events }: MachineCaps, cap: MachineCaps): boolean {
  return bytes > cap.bytes || events > cap.events
}

/** How much of a machine it takes. */
function share({ bytes, events }: MachineCaps, cap: MachineCaps): number {
  return Math.max(bytes / cap.bytes, events / cap.events)
}

function tooLarge(step: NamedStep | undefined, { bytes, events }: MachineCaps, cap: MachineCaps): Fault {
  const what =
    step?.kind === 'module'
      ? `the blocks that run again together around "${step.module.blocks[0]}" (${step.module.blocks.length} blocks)`
      : `the piece that begins with state "${step?.entry}"`
  const message = `Cannot compile: ${what} would take ${bytes} bytes and up to ${events} history events, and one state machine has room for ${cap.bytes} and ${cap.events}. Lower max_bounces or retry.max_attempts, narrow the reset_blocks, or put a part of it into a DAG of its own (mode: dag).`
  return new Fault('InvalidInput', 'dag_too_large', message, { facts: { bytes, events } })
}

/** What a piece takes of a machine: bytes of its text with ARNs in it, and history events. */
interface Weight {
  readonly bytes: number
  readonly events: number
  /** Events without the items of lists whose length is not known before the run. */
  readonly surely: number
}

/** What a name of the next state can take where it is not known yet. */
const NEXT_BYTES = 40
/** A list whose length is not known. */
const MOST_ITEMS = 1_000
/** Event budgets. A question is a wait, and one more call of its block; a call of AWS is a Choice, and a state before it that opens it. */
const EVENTS = { block: 5, call: 13, try: 7, item: 7, token: 6, parallel: 4, choice: 2, part: 6, ask: 11 }

type Nested = Extract<NamedStep, { kind: 'par' | 'module' }>

/** `known` is what pieces weigh that hold others, for who asks more than once: none is weighed twice however deep it lies. */
interface Scale extends Emission {
  readonly known?: Map<Nested, Weight>
  /** Events alone cost little: bytes are those of a text that has to be written for it. */
  readonly only?: 'events'
}

/** What the steps weigh together. */
export function weighSteps(steps: readonly NamedStep[], scale: Scale): Weight {
  const sum = { ...NOTHING }
  for (const step of steps) addStep(sum, step, scale)
  return sum
}

function total(weights: readonly Weight[]): Weight {
  const sum = { ...NOTHING }
  for (const weight of weights) add(sum, weight, 1)
  return sum
}

const NOTHING: Weight = { bytes: 0, events: 0, surely: 0 }

/** A weight that is added up. */
interface Sum {
  bytes: number
  events: number
  surely: number
}

function add(sum: Sum, { bytes, events, surely }: Weight, passes: number): void {
  sum.bytes += bytes
  sum.events += events * passes
  sum.surely += surely * passes
}

function addStep(sum: Sum, step: NamedStep, scale: Scale): void {
  switch (step.kind) {
    case 'block':
      sum.bytes += bytesOf(scale, step)
      addEventsOfBlock(sum, step.block)
      break
    case 'wait':
    case 'part':
      sum.bytes += bytesOf(scale, step)
      addEvents(sum, step.kind === 'wait' ? EVENTS.token : EVENTS.part)
      break
    case 'par':
    case 'module':
      add(sum, weighNested(step, scale), 1)
  }
}

function weighNested(step: Nested, scale: Scale): Weight {
  const known = scale.known?.get(step)
  if (known !== undefined) return known
  const weight = step.kind === 'par' ? weighParallel(step, scale) : weighModule(step, scale)
  scale.known?.set(step, weight)
  return weight
}

function weighParallel({ branches }: Extract<NamedStep, { kind: 'par' }>, scale: Scale): Weight {
  const sum = { ...shellOf(branches.length) }
  for (const { steps } of branches) {
    if (scale.only !== 'events') sum.bytes += holdBytes(steps)
    for (const step of steps) addStep(sum, step, scale)
  }
  return sum
}

function weighModule(step: Extract<NamedStep, { kind: 'module' }>, scale: Scale): Weight {
  const passes = 1 + step.module.rules.reduce((sum, { bounce }) => sum + bounce.max_bounces, 0)
  const once: Sum = { ...weighExit(step, scale) }
  for (const inner of step.body.steps) addStep(once, inner, { ...scale, epoch: true })
  const sum = { ...NOTHING }
  add(sum, once, passes)
  return sum
}

/** A Parallel without what is in its branches. */
function shellOf(branches: number): Weight {
  return fixed(150 + branches * (NEXT_BYTES + '{"StartAt":"","States":{}},'.length), EVENTS.parallel)
}

function weighExit(step: Extract<NamedStep, { kind: 'module' }>, scale: Scale): Weight {
  const empty = { ...step, body: { ...step.body, steps: [] } }
  return fixed(bytesOf(scale, empty), EVENTS.block + EVENTS.choice)
}

const NEXT = { Next: 'n'.repeat(NEXT_BYTES) }

function bytesOf(scale: Scale, step: NamedStep): number {
  return scale.only === 'events' ? 0 : BRACES + stepBytes(step, scale, NEXT)
}

const BRACES = '{}'.length

function addEvents(sum: Sum, events: number): void {
  sum.events += events
  sum.surely += events
}

/** What the work itself adds, where it is no call of run-block. */
function eventsOfWork(block: CompiledBlock): number {
  if (isStep(block)) return EVENTS.token
  return isNativeHandler(block.handler) ? EVENTS.call : 0
}

/** Calls of one turn that are reckoned with, and tries or questions of each. */
const CALLS_A_TURN = 4

/** Of an agent that acts: each turn is two rounds, one of itself and one of its calls. */
function eventsOfAgent(block: CompiledBlock): number {
  const acting = actingOf(block)
  if (acting === undefined) return 0
  const round = EVENTS.block + EVENTS.choice + EVENTS.parallel
  const item = EVENTS.item + EVENTS.choice
  const calls = Math.min(acting.max_turns * CALLS_A_TURN, LIMITS.agent_calls)
  return acting.max_turns * (2 * round + item) + calls * (item + EVENTS.block)
}

function addEventsOfBlock(sum: Sum, block: CompiledBlock): void {
  const { mode, approval, asks, foreach, retry } = block
  const tries = Math.max(1, retry?.max_attempts ?? 1)
  const asked = approval === undefined ? 0 : EVENTS.token
  // Of a fan-out each item waits for its own.
  const ofWork = eventsOfWork(block)
  const ofMode = opensChild(mode) || mode === 'wait' ? EVENTS.token : 0
  const waits = ofMode + (foreach === undefined ? ofWork : 0) + (mode === 'wait' ? EVENTS.block : 0)
  const surely =
    (EVENTS.block + waits + asked + (asks?.block ?? 0) * EVENTS.ask) * tries + (EVENTS.try - EVENTS.block) * (tries - 1)
  addEvents(sum, surely)
  addEvents(sum, eventsOfAgent(block))
  if (foreach === undefined) return
  addEvents(sum, EVENTS.block + EVENTS.parallel)
  const ofItem = EVENTS.item + ofWork * tries + EVENTS.try * (tries - 1) + (asks?.items === true ? EVENTS.ask : 0)
  if (typeof foreach.items === 'string') sum.events += MOST_ITEMS * ofItem
  else addEvents(sum, foreach.items.length * ofItem)
}

function fixed(bytes: number, events: number): Weight {
  return { bytes, events, surely: events }
}
