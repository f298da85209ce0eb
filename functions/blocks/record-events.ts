import type { NewEvent } from '../../shared/runs/event.ts'
import { ordinal } from '../../shared/runs/ordinal.ts'
import type { Append, Appended } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/** The store takes 24 events and 8 KiB an append; a little room is left for ids and times. */
const MAX_EVENTS = 20
const MAX_BYTES = 6_500

interface Step {
  readonly epoch: number
  readonly attempt: number
  /** Phase of the first append; the following ones count up from it. */
  readonly phase: number
}

/**
 * Appends events that may not fit one append: all but the last part go first under phases of their own, each fenced by
 * the lane; the last part carries `final` (its ordinal, guard, state changes). Stops at the first refusal.
 */
export async function recordEvents(
  world: Pick<World, 'runs'>,
  step: Step,
  events: readonly NewEvent[],
  final: Omit<Append, 'events'>,
): Promise<Appended> {
  const parts = partsOf(events)
  for (const [i, part] of parts.slice(0, -1).entries()) {
    const at = ordinal({ epoch: step.epoch, attempt: step.attempt, phase: step.phase + i })
    const { run, lane, at: time, item_of } = final
    const head = { run, lane, ...(item_of === undefined ? {} : { item_of }) }
    const done = await world.runs.append({ ...head, ordinal: at, guard: { below: at }, at: time, events: part })
    if (!done.ok && done.because !== 'already') return done
  }
  return world.runs.append({ ...final, events: parts.at(-1) ?? [] })
}

function partsOf(events: readonly NewEvent[]): readonly (readonly NewEvent[])[] {
  if (isSmall(events)) return [events]
  const parts: NewEvent[][] = [[]]
  let bytes = 0
  for (const event of events) {
    const size = Buffer.byteLength(JSON.stringify(event))
    const part = parts.at(-1)
    if (part === undefined || part.length >= MAX_EVENTS || (part.length > 0 && bytes + size > MAX_BYTES)) {
      parts.push([event])
      bytes = size
    } else {
      part.push(event)
      bytes += size
    }
  }
  return parts
}

/** Measuring costs as much as writing: three events with few outputs fit whatever their words are. */
function isSmall(events: readonly NewEvent[]): boolean {
  const ports = events.map((event) => (event.type === 'block:output' ? Object.keys(event.data.outputs).length : 0))
  return events.length <= 3 && Math.max(0, ...ports) <= 8
}
