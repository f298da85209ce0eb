import { opensChild } from '../dag/opens-child.ts'
import { boundBytes } from './bound-bytes.ts'
import type { CompiledBlock } from './compiled-block.ts'
import type { Emission } from './emit-block.ts'
import { stepText } from './emit-machine.ts'
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
/** A list whose length is not known. Source: decisions, "foreach". */
const MOST_ITEMS = 1_000
/** Event budgets. Source: design decisions, "Limits and figures, fairly". A question is a wait, and one more call of its block. */
const EVENTS = { block: 5, try: 7, item: 7, token: 6, parallel: 4, choice: 2, part: 6, ask: 11 }

/** What pieces weigh, so that none is weighed twice however deep it lies. */
export interface Scale extends Emission {
  readonly known: Map<NamedStep, Weight>
  /** Events alone cost little: bytes are those of a text that has to be written for it. */
  readonly only?: 'events'
}

export function weigh(step: NamedStep, scale: Scale): Weight {
  const known = scale.known.get(step)
  if (known !== undefined) return known
  const weight = weighOnce(step, scale)
  scale.known.set(step, weight)
  return weight
}

function weighOnce(step: NamedStep, scale: Scale): Weight {
  switch (step.kind) {
    case 'block':
      return { bytes: bytesOf(scale, step), ...eventsOfBlock(step.block) }
    case 'par': {
      const branches = step.branches.map(({ steps }) => weighAll(steps, scale))
      return total([...branches, shellOf(step.branches.length)])
    }
    case 'module': {
      const passes = 1 + step.module.rules.reduce((sum, { bounce }) => sum + bounce.max_bounces, 0)
      const exit = weighExit(step, scale)
      const one = total([weighAll(step.body.steps, { ...scale, epoch: true }), exit])
      return { bytes: one.bytes, events: one.events * passes, surely: one.surely * passes }
    }
    case 'wait':
      return fixed(bytesOf(scale, step), EVENTS.token)
    case 'part':
      return fixed(bytesOf(scale, step), EVENTS.part)
  }
}

export function total(weights: readonly Weight[]): Weight {
  return weights.reduce(
    (sum, { bytes, events, surely }) => ({
      bytes: sum.bytes + bytes,
      events: sum.events + events,
      surely: sum.surely + surely,
    }),
    fixed(0, 0),
  )
}

/** A Parallel without what is in its branches. */
export function shellOf(branches: number): Weight {
  return fixed(150 + branches * (NEXT_BYTES + '{"StartAt":"","States":{}},'.length), EVENTS.parallel)
}

function weighAll(steps: readonly NamedStep[], scale: Scale): Weight {
  return total(steps.map((step) => weigh(step, scale)))
}

function weighExit(step: Extract<NamedStep, { kind: 'module' }>, scale: Scale): Weight {
  const empty = { ...step, body: { ...step.body, steps: [] } }
  return fixed(bytesOf(scale, empty), EVENTS.block + EVENTS.choice)
}

const NEXT = { Next: 'n'.repeat(NEXT_BYTES) }

function bytesOf(scale: Scale, step: NamedStep): number {
  return scale.only === 'events' ? 0 : boundBytes(`{${stepText(step, scale, NEXT)}}`)
}

function eventsOfBlock({ mode, approval, asks, foreach, retry }: CompiledBlock): Pick<Weight, 'events' | 'surely'> {
  const tries = Math.max(1, retry?.max_attempts ?? 1)
  const asked = approval === undefined ? 0 : EVENTS.token
  const child = opensChild(mode) ? EVENTS.token : 0
  const surely =
    (EVENTS.block + child + asked + (asks?.block ?? 0) * EVENTS.ask) * tries + (EVENTS.try - EVENTS.block) * (tries - 1)
  if (foreach === undefined) return { events: surely, surely }
  const frame = surely + EVENTS.block + EVENTS.parallel
  const ofItem = EVENTS.item + EVENTS.try * (tries - 1) + (asks?.items === true ? EVENTS.ask : 0)
  const items = (count: number) => frame + count * ofItem
  if (typeof foreach.items !== 'string')
    return { events: items(foreach.items.length), surely: items(foreach.items.length) }
  return { events: items(MOST_ITEMS), surely: frame }
}

function fixed(bytes: number, events: number): Weight {
  return { bytes, events, surely: events }
}
