import type { DatabaseSync } from 'node:sqlite'
import type { NewEvent, RunEvent } from '../../../shared/runs/event.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { query, runNumbers } from './query.ts'
import { SPAN } from './schema.ts'

interface EventRow {
  readonly id: number
  readonly event_id: string
  readonly at: string
  readonly body: string
}

/** The event log of a run, by seq. */
export function eventsOf(db: DatabaseSync): Pick<RunStore, 'events'> {
  const numberOf = runNumbers(db)
  const read = eventReader(db)
  return {
    events: async (key, since, limit) => {
      const run = numberOf(key)
      return run === undefined ? [] : read(run, key.run_id, since, limit)
    },
  }
}

/** Events of a run with seq > since, at most `limit`. */
export function eventReader(
  db: DatabaseSync,
): (run: number, run_id: string, since: number, limit: number) => readonly RunEvent[] {
  const after = query<EventRow>(
    db,
    'SELECT id, event_id, at, body FROM events WHERE id > ? AND id < ? ORDER BY id LIMIT ?',
  )
  return (run, run_id, since, limit) => {
    const first = run * SPAN
    return after.all(first + since, first + SPAN, limit).map((row) => eventOf(row, run_id, first))
  }
}

function eventOf({ id, event_id, at, body }: EventRow, run_id: string, first: number): RunEvent {
  // The body is the NewEvent an append wrote.
  const event: NewEvent = JSON.parse(body)
  return { seq: id - first, id: event_id, run_id, at, ...event }
}
