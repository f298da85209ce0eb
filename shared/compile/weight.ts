import { opensChild } from '../dag/opens-child.ts'
import type { CompiledBlock } from './compiled-block.ts'
import type { Emission } from './emit-block.ts'
import { stepBytes } from './emit-machine.ts'
import type { NamedStep } from './name-steps.ts'

/** What a piece takes of a machine: bytes of its text with ARNs in it, and history events. */
export interface Weight {
  readonly bytes: number
  readonly events: number
  /** Events without the items of lists whose length is not known before the run. */
  readonly surely: number
}

/** What a name of the next state can take where it is not known yet. */
const NEXT_BYTES = 40
/** A list whose length is not known. */
const MOST_ITEMS = 1_000
/** Event budgets. A question is a wait, and one more call of its block. */
const EVENTS = { block: 5, try: 7, item: 7, token: 6, parallel: 4, choice: 2, part: 6, ask: 11 }

type Nested = Extract<NamedStep, { kind: 'par' | 'module' }>

/** `known` is what pieces weigh that hold others, for who asks more than once: none is weighed twice however deep it lies. */
export interface Scale extends Emission {
  readonly known?: Map<Nested, Weight>
  /** Events alone cost little: bytes are those of a text that has to be written for it. */
  readonly only?: 'events'
}

/** What the steps weigh together. */
export function weigh(steps: readonly NamedStep[], scale: Scale): Weight {
  const sum = { ...NOTHING }
  for (const step of steps) addStep(sum, step, scale)
  return sum
}

export function total(weights: readonly Weight[]): Weight {
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
  for (const { steps } of branches) for (const step of steps) addStep(sum, step, scale)
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
export function shellOf(branches: number): Weight {
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

function addEventsOfBlock(sum: Sum, { mode, approval, asks, foreach, retry }: CompiledBlock): void {
  const tries = Math.max(1, retry?.max_attempts ?? 1)
  const asked = approval === undefined ? 0 : EVENTS.token
  const child = opensChild(mode) ? EVENTS.token : 0
  const surely =
    (EVENTS.block + child + asked + (asks?.block ?? 0) * EVENTS.ask) * tries + (EVENTS.try - EVENTS.block) * (tries - 1)
  addEvents(sum, surely)
  if (foreach === undefined) return
  addEvents(sum, EVENTS.block + EVENTS.parallel)
  const ofItem = EVENTS.item + EVENTS.try * (tries - 1) + (asks?.items === true ? EVENTS.ask : 0)
  if (typeof foreach.items === 'string') sum.events += MOST_ITEMS * ofItem
  else addEvents(sum, foreach.items.length * ofItem)
}

function fixed(bytes: number, events: number): Weight {
  return { bytes, events, surely: events }
}
