import { type Amount, minus, NOTHING, type Spent } from '../../shared/runs/budget.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { ordinal } from '../../shared/runs/lane.ts'
import type { Append, Appended, LaneGuard } from '../../shared/runs/run-store.ts'
import { spentByEvents } from '../../shared/runs/usage-cost.ts'
import type { World } from '../../shared/world.ts'

/** The store takes 24 events and 8 KiB an append; a little room is left for ids and times. */
const MAX_EVENTS = 20
const MAX_BYTES = 6_500

interface Step {
  readonly epoch: number
  readonly attempt: number
  readonly leg?: number
  /** Phase of the first append; the following ones count up from it. */
  readonly phase: number
}

/**
 * Appends events that may not fit one append: all but the last part go first under phases of their own, each fenced by
 * the lane; the last part carries `final` (its ordinal, guard, state changes). Stops at the first refusal. What the
 * events of a part say was used is spent with it; `reserved` is what was reserved for that, freed with the last part.
 * `after`: where the lane must stand before the first.
 */
export async function recordEvents(
  world: Pick<World, 'runs'>,
  step: Step,
  events: readonly NewEvent[],
  final: Omit<Append, 'events' | 'settle'>,
  reserved: Amount = NOTHING,
  after?: number,
): Promise<Appended> {
  const parts = partsOf(events)
  // The first stands where the lane is said to stand, the others behind it.
  const guardOf = (part: number, guard: LaneGuard) => (part === 0 && after !== undefined ? { is: after } : guard)
  let left = reserved
  for (const [i, part] of parts.slice(0, -1).entries()) {
    const at = ordinal({ ...step, phase: step.phase + i })
    const guard = guardOf(i, { below: at })
    const spent = spentByEvents(part)
    const freed = minus(left, minus(left, spent))
    const charge = chargeFor(freed, spent)
    const done = await world.runs.append({ ...besideFinal(final), ordinal: at, guard, events: part, ...charge })
    if (!done.ok && (done.because !== 'already' || 'is' in guard)) return done
    left = minus(left, freed)
  }
  const last = parts.at(-1) ?? []
  const guard = guardOf(parts.length - 1, final.guard)
  return world.runs.append({ ...final, guard, events: last, ...chargeFor(left, spentByEvents(last)) })
}

/** What the appends before the last have of it. */
function besideFinal({ run, lane, at, item_of, share }: Omit<Append, 'events' | 'settle'>) {
  const of = { ...(item_of === undefined ? {} : { item_of }), ...(share === undefined ? {} : { share }) }
  return { run, lane, at, ...of }
}

/** Nothing where no call was made. */
export function chargeFor(reserved: Amount, spent: Spent): Pick<Append, 'settle'> {
  const isNothing = [reserved, spent].every(({ tokens, usd_micros }) => tokens === 0 && usd_micros === 0)
  return isNothing ? {} : { settle: { reserved, spent } }
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
