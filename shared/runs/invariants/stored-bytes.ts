import type { RunEvent } from '../event.ts'
import { eventPlace } from '../event-place.ts'
import { inTurns } from './in-turns.ts'
import { invariant } from './invariant.ts'
import { namedObjects } from './refs.ts'

const READ_AT_ONCE = 16

export const storedBytes = invariant({
  n: 40,
  title: 'a run has counted at least the bytes of the bodies its events name',
  of: 'objects',
  needs: ['events', 'head', 'read'],
  async check({ events, head, read }) {
    const { stored_bytes } = head
    // It began before they were counted.
    if (stored_bytes === undefined) return []
    const sizes = await inTurns([...bodiesOf(events)], READ_AT_ONCE, async ([ref, bytes]) => {
      return bytes ?? (await read(ref))?.byteLength ?? 0
    })
    const named = sizes.reduce((sum, bytes) => sum + bytes, 0)
    return named <= stored_bytes ? [] : [`its events name ${named} bytes of bodies, HEAD counts ${stored_bytes}`]
  },
})

/** Each body once, with its size where an event says it. */
function bodiesOf(events: readonly RunEvent[]): ReadonlyMap<string, number | undefined> {
  const taken = new Set(events.filter(isTaken).map(attemptOf))
  const named = events.flatMap((event) => [...namedObjects(ownData(event, taken))])
  const sizes = new Map<string, number | undefined>()
  for (const { ref, bytes } of named) {
    if (typeof bytes === 'number') sizes.set(ref, bytes)
    else if (!sizes.has(ref)) sizes.set(ref, undefined)
  }
  return sizes
}

/**
 * What of an event this run stored. What was asked of a research run was stored before it; what a model answered for a
 * result that was taken over, by the run that asked.
 */
function ownData(event: RunEvent, taken: ReadonlySet<string>): unknown {
  if (event.type === 'research:requested') return {}
  return event.type === 'block:output' && taken.has(attemptOf(event)) ? event.data.outputs : event.data
}

function isTaken(event: RunEvent): boolean {
  return event.type === 'block:completed' && event.data.cached_from !== undefined
}

function attemptOf(event: RunEvent): string {
  const { epoch, attempt, item } = eventPlace(event)
  return `${epoch}/${attempt}/${item ?? ''}/${event.block_id}`
}
