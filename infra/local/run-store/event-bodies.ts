import { Fault } from '../../../shared/errors.ts'
import type { NewEvent } from '../../../shared/runs/event.ts'

const MAX_EVENTS = 24
const MAX_BYTES = 8_192

/**
 * The events of one append as they are stored, one JSON text each. Fault Bug append_too_large past 24 events or 8 KiB
 * of UTF-8 JSON together, append_empty without any: writers split their events before they come here.
 */
export function eventBodies(events: readonly NewEvent[]): readonly string[] {
  const bodies = events.map((event) => JSON.stringify(event))
  if (bodies.length === 0) {
    throw new Fault('Bug', 'append_empty', 'Cannot append to a run: there is no event in it, an append has 1 to 24.')
  }
  const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0)
  if (bodies.length <= MAX_EVENTS && bytes <= MAX_BYTES) return bodies
  const message = `Cannot append ${bodies.length} events of ${bytes} bytes to a run (first: ${events[0]?.type}): at most ${MAX_EVENTS} events and ${MAX_BYTES} bytes an append. Store bodies as objects and name them by ref.`
  throw new Fault('Bug', 'append_too_large', message, { facts: { events: bodies.length, bytes } })
}
