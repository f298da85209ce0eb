import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import type { Amount, RunBudget, Spent } from '../../../shared/runs/budget.ts'
import type { NewEvent, RunEvent } from '../../../shared/runs/event.ts'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'
import type { Append, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'
import { query, runNumberLookup } from './query.ts'
import { SPAN } from './schema.ts'

interface EventRow {
  readonly id: number
  readonly event_id: string
  readonly at: string
  readonly body: string
}

/** The event log of a run, by seq. */
export function eventLogOn(db: DatabaseSync): Pick<RunStore, 'events'> {
  const numberOf = runNumberLookup(db)
  const read = eventReader(db)
  return {
    events: async (key, since, limit) => {
      const run = numberOf(key)
      return run === undefined ? [] : read(run, key.run_id, since, limit)
    },
  }
}

/** Events of a run with seq > since, at most `limit`. */
function eventReader(
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

/** Closed in steps of so many events, as the other store closes its pages, and whole when the run ends. */
const SEAL_AT = 8

interface SealRow {
  readonly run: number
  readonly state: string
  readonly seq: number
  readonly sealed_seq: number
  readonly sealed_hash: string
}

/** The closed part of a run's hash chain. */
export function sealsOn(db: DatabaseSync): Pick<RunStore, 'sealed'> {
  const find = query<SealRow>(
    db,
    'SELECT run, state, seq, sealed_seq, sealed_hash FROM runs WHERE tenant = ? AND run_id = ?',
  )
  const seal = sealer(db)
  return {
    async sealed({ tenant, run_id }) {
      const row = find.one(tenant, run_id)
      if (row === undefined) return undefined
      // Ended under a version that closed no chains.
      const open = row.state !== 'running' && row.sealed_seq < row.seq
      const closed = open ? await commitTogether(db, () => seal(row.run, { tenant, run_id }, row.seq)) : undefined
      return closed ?? { seq: row.sealed_seq, hash: row.sealed_hash }
    },
  }
}

/** Closes the chain after an append when it is time; the caller holds the transaction. */
export function chainSealer(db: DatabaseSync): (run: number, key: RunKey, appended: Appended) => void {
  const seal = sealer(db)
  return (run, key, { before, seq, ended }) => {
    if (ended || Math.floor(seq / SEAL_AT) > Math.floor(before / SEAL_AT)) seal(run, key, seq)
  }
}

interface Appended {
  /** seq of the newest event before and after. */
  readonly before: number
  readonly seq: number
  readonly ended: boolean
}

function sealer(db: DatabaseSync) {
  const known = query<{ readonly sealed_seq: number; readonly sealed_hash: string }>(
    db,
    'SELECT sealed_seq, sealed_hash FROM runs WHERE run = ?',
  )
  const move = db.prepare('UPDATE runs SET sealed_seq = ?, sealed_hash = ? WHERE run = ?')
  const read = eventReader(db)
  return (run: number, { run_id }: RunKey, seq: number) => {
    const { sealed_seq = 0, sealed_hash = '' } = known.one(run) ?? {}
    const hash = hashAfter(read(run, run_id, sealed_seq, seq - sealed_seq), sealed_hash)
    move.run(seq, hash, run)
    return { seq, hash }
  }
}

/** The ledger of a run that is there. */
export function ledgerReader(db: DatabaseSync): (run: number) => RunBudget {
  const read = query<LedgerRow>(db, `SELECT ${LEDGER_COLUMNS} FROM runs WHERE run = ?`)
  return (run) => {
    const row = read.one(run)
    return row === undefined ? NO_LEDGER : ledgerOf(row)
  }
}

const NO_LEDGER = { committed_tokens: 0, committed_usd_micros: 0, spent_tokens: 0, spent_usd_micros: 0 }

/** Reserves, settles and raises; the caller holds the transaction and has checked the caps. */
export function ledgerWriter(
  db: DatabaseSync,
): (run: number, append: Pick<Append, 'reserve' | 'settle' | 'raise'>) => void {
  const move = db.prepare(
    `UPDATE runs SET committed_tokens = committed_tokens + ?, committed_usd_micros = committed_usd_micros + ?,
      spent_tokens = spent_tokens + ?, spent_usd_micros = spent_usd_micros + ?,
      unpriced_tokens = unpriced_tokens + ? WHERE run = ?`,
  )
  // Of a cap that is not there max() makes none.
  const lift = db.prepare(
    'UPDATE runs SET cap_tokens = max(cap_tokens, ?), cap_usd_micros = max(cap_usd_micros, ?) WHERE run = ?',
  )
  return (run, { reserve, settle, raise }) => {
    if (raise !== undefined) lift.run(raise.tokens ?? 0, raise.usd_micros ?? 0, run)
    if (reserve === undefined && settle === undefined) return
    const { reserved = NOTHING, spent = NOTHING } = settle ?? {}
    const { tokens, usd_micros } = reserve ?? NOTHING
    const committed = [tokens + spent.tokens - reserved.tokens, usd_micros + spent.usd_micros - reserved.usd_micros]
    move.run(...committed, spent.tokens, spent.usd_micros, spent.unpriced_tokens ?? 0, run)
  }
}

const NOTHING: Spent = { tokens: 0, usd_micros: 0 }

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

const NO_SHARE: Amount = { tokens: 0, usd_micros: 0 }

/** What the items of a foreach block have committed together, while they are open. */
export function foreachUsageReader(db: DatabaseSync): (run: number, block: number) => Amount {
  const read = query<{ readonly body: string }>(
    db,
    "SELECT body FROM head_maps WHERE run = ? AND map = 'shares' AND key = ?",
  )
  return (run, block) => {
    const found = read.one(run, String(block))
    return found === undefined ? NO_SHARE : JSON.parse(found.body)
  }
}

/** Counts what an append reserves and settles for a foreach block; its end forgets it. */
export function foreachUsageWriter(db: DatabaseSync): (run: number, append: ShareChange) => void {
  const now = foreachUsageReader(db)
  const put = db.prepare("INSERT OR REPLACE INTO head_maps (run, map, key, body) VALUES (?, 'shares', ?, ?)")
  const forget = db.prepare("DELETE FROM head_maps WHERE run = ? AND map = 'shares' AND key = ?")
  return (run, { reserve = NO_SHARE, settle, share, drop_items }) => {
    if (drop_items !== undefined) forget.run(run, String(drop_items.block))
    if (share === undefined || share.block === drop_items?.block) return
    const { reserved = NO_SHARE, spent = NO_SHARE } = settle ?? {}
    const before = now(run, share.block)
    const after: Amount = {
      tokens: before.tokens + reserve.tokens + spent.tokens - reserved.tokens,
      usd_micros: before.usd_micros + reserve.usd_micros + spent.usd_micros - reserved.usd_micros,
    }
    put.run(run, String(share.block), JSON.stringify(after))
  }
}

type ShareChange = Pick<Append, 'reserve' | 'settle' | 'share' | 'drop_items'>
