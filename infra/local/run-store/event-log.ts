import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import type { RunBudget } from '../../../shared/runs/budget.ts'
import type { NewEvent, RunEvent } from '../../../shared/runs/event.ts'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'
import { query, runNumberLookup } from './query.ts'
import { SPAN } from './schema.ts'
import { withTwins } from './twin-hashes.ts'

interface EventRow {
  readonly id: number
  readonly event_id: string
  readonly at: string
  readonly body: string
}

/** The event log of a run, by seq. `toFile`: waits until what is in memory of it is there. */
export function eventLogOn(
  db: DatabaseSync,
  toFile: (run: number) => Promise<void> | undefined,
): Pick<RunStore, 'events'> {
  const numberOf = runNumberLookup(db)
  const read = eventReader(db)
  return {
    events: async (key, since, limit) => {
      const run = numberOf(key)
      if (run === undefined) return []
      await toFile(run)
      return read(run, key.run_id, since, limit)
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
  const event: NewEvent = JSON.parse(withTwins(body))
  return { seq: id - first, id: event_id, run_id, at, ...event }
}

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

interface SealRow {
  readonly run: number
  readonly state: string
  readonly seq: number
  readonly sealed_seq: number
  readonly sealed_hash: string
}

/** The closed part of a run's hash chain. */
export function sealsOn(
  db: DatabaseSync,
  toFile: (run: number) => Promise<void> | undefined,
): Pick<RunStore, 'sealed'> {
  const numberOf = runNumberLookup(db)
  const find = query<SealRow>(
    db,
    'SELECT run, state, seq, sealed_seq, sealed_hash FROM runs WHERE tenant = ? AND run_id = ?',
  )
  const move = db.prepare('UPDATE runs SET sealed_seq = ?, sealed_hash = ? WHERE run = ?')
  const read = eventReader(db)
  return {
    async sealed({ tenant, run_id }) {
      const number = numberOf({ tenant, run_id })
      if (number !== undefined) await toFile(number)
      const row = find.one(tenant, run_id)
      if (row === undefined) return undefined
      const { run, state, seq, sealed_seq, sealed_hash } = row
      if (state === 'running' || sealed_seq === seq) return { seq: sealed_seq, hash: sealed_hash }
      // Ended under a version that closed no chains.
      return await commitTogether(db, () => {
        const hash = hashAfter(read(run, run_id, sealed_seq, seq - sealed_seq), sealed_hash)
        move.run(seq, hash, run)
        return { seq, hash }
      })
    },
  }
}

export const LEDGER_COLUMNS =
  'cap_tokens, cap_usd_micros, committed_tokens, committed_usd_micros, spent_tokens, spent_usd_micros, unpriced_tokens'

type Absent = 'cap_tokens' | 'cap_usd_micros' | 'unpriced_tokens'
export type LedgerRow = Omit<RunBudget, Absent> & Readonly<Record<Absent, number | null>>

export function ledgerOf(row: LedgerRow): RunBudget {
  const { cap_tokens, cap_usd_micros, unpriced_tokens } = row
  return {
    ...(cap_tokens === null ? {} : { cap_tokens }),
    ...(cap_usd_micros === null ? {} : { cap_usd_micros }),
    committed_tokens: row.committed_tokens,
    committed_usd_micros: row.committed_usd_micros,
    spent_tokens: row.spent_tokens,
    spent_usd_micros: row.spent_usd_micros,
    ...(unpriced_tokens === null ? {} : { unpriced_tokens }),
  }
}
