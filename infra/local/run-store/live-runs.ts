import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Amount, RunBudget } from '../../../shared/runs/budget.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { CHAIN_START, hashAfter } from '../../../shared/runs/hash-chain.ts'
import type { Head, HeadApproval, HeadModule, OutboxEntry, RunState } from '../../../shared/runs/head.ts'
import { byLane } from '../../../shared/runs/lane.ts'
import type { Meta, RunKey } from '../../../shared/runs/run-store.ts'
import type { BlockProjection, ContextItem } from '../../../shared/runs/run-store-items.ts'
import { onTransactions } from '../database.ts'
import { eventReader } from './event-log.ts'
import { forgetRunNumbers, query, runNumberLookup } from './query.ts'
import { SPAN } from './schema.ts'
import { headReader } from './stored-head.ts'
import { withoutTwins, withTwins } from './twin-hashes.ts'

/**
 * A run that is written to, in memory: HEAD, its lanes with their projections, and the events behind the closed part of
 * its chain. Appends are decided and made here; what changed is written before the commit of the transaction, each row
 * once. The file stays the truth: after a transaction that failed nothing of this is believed (`forgetRuns`), and who is
 * not here is read from it. The folder's lock keeps other writers away.
 */
export interface LiveRun {
  /** Its number in the file. */
  readonly run: number
  readonly key: RunKey
  state: RunState
  seq: number
  queued: boolean
  deadline_at: string
  check_at: string | undefined
  stored_bytes: number | undefined
  budget: RunBudget
  readonly running: Set<string>
  /** The same in order, once somebody has read it since it changed. */
  running_now: readonly string[] | undefined
  readonly lanes: Map<string, LiveLane>
  approvals: Readonly<Record<string, HeadApproval>>
  modules: Readonly<Record<string, HeadModule>>
  children: Readonly<Record<string, string>>
  /** Foreach blocks whose items are open, and how many of those failed for good. */
  readonly items: Map<string, number>
  /** What the items of a foreach block have committed together. */
  readonly shares: Map<string, Amount>
  readonly outbox: Map<string, OutboxEntry>
  /** The closed part of its hash chain. */
  sealed: { readonly seq: number; readonly hash: string }
  /** Every event behind that. */
  open: RunEvent[]
  /** What is read again and again, once somebody has. */
  meta?: Meta
  context?: ContextItem
  readonly joins: Map<string, LiveJoin>
  readonly unwritten: Unwritten
}

/** Who has come, and who waits for so many. */
export interface LiveJoin {
  readonly done: Set<string>
  readonly tokens: Set<string>
  need: number | undefined
}

export interface LiveLane {
  /** undefined: its block's items are open no more. */
  ordinal: number | undefined
  /** As it was written, but for its lease. */
  projection: BlockProjection | undefined
  lease_until: string | undefined
}

/** What the file does not have yet. */
interface Unwritten {
  head: boolean
  check: boolean
  ledger: boolean
  readonly lanes: Set<string>
  /** seq, id, time and text of each event. */
  events: SQLInputValue[]
}

/** Closed in steps of so many events, as the other store closes its pages, and whole when the run ends. */
const SEAL_AT = 8

/** So many lanes are kept of all runs together: some 500 bytes each. Runs that were written to last stay. */
const MOST_LANES = 200_000
const COMMITS_A_LOOK = 100

export interface LiveRuns {
  /** The run with this number if it is in memory. */
  peek(run: number): LiveRun | undefined
  /** The run, read from the file if need be; undefined when there is none. The caller holds a transaction. */
  open(key: RunKey): LiveRun | undefined
  /** A run whose row was just made. */
  add(run: LiveRun): void
  /** It will be written before the commit. */
  changed(run: LiveRun): void
  /** Writes now what the file does not have yet: before a statement that reads these rows or changes them. */
  write(): void
  forget(): void
}

const known = new WeakMap<DatabaseSync, LiveRuns>()

/** The live runs of a database: one memory, whoever asks. */
export function liveRunsOf(db: DatabaseSync): LiveRuns {
  const there = known.get(db)
  if (there !== undefined) return there
  const made = openLiveRuns(db)
  known.set(db, made)
  return made
}

/** After rows of runs were removed, or changed by others than this store: what is known of any run is read again. */
export function forgetRuns(db: DatabaseSync): void {
  forgetRunNumbers(db)
  known.get(db)?.forget()
}

function openLiveRuns(db: DatabaseSync): LiveRuns {
  const runs = new Map<number, LiveRun>()
  const changed = new Set<LiveRun>()
  const numberOf = runNumberLookup(db)
  const load = loader(db)
  const write = writer(db)
  const writeAll = () => {
    for (const run of changed) write(run)
    changed.clear()
  }
  const forget = () => {
    runs.clear()
    changed.clear()
  }
  let commits = 0
  onTransactions(db, {
    beforeCommit() {
      for (const { run, state } of changed) if (state !== 'running') runs.delete(run)
      writeAll()
      commits += 1
      if (commits % COMMITS_A_LOOK === 0) makeRoom(runs)
    },
    afterRollback: forget,
  })
  const add = (run: LiveRun) => {
    runs.set(run.run, run)
  }
  return {
    peek: (run) => runs.get(run),
    open(key) {
      const number = numberOf(key)
      if (number === undefined) return undefined
      const there = runs.get(number)
      if (there !== undefined) return there
      const read = load(number, key)
      // Of one that has ended nothing but that is asked.
      if (read?.state === 'running') add(read)
      return read
    },
    add,
    changed: (run) => void changed.add(run),
    write: writeAll,
    forget,
  }
}

/** The runs that came first leave, where all together have too many lanes; each is read again when it is written to. */
function makeRoom(runs: Map<number, LiveRun>): void {
  let lanes = 0
  for (const one of runs.values()) lanes += one.lanes.size + 1
  for (const [run, one] of runs) {
    if (lanes <= MOST_LANES) return
    runs.delete(run)
    lanes -= one.lanes.size + 1
  }
}

/** HEAD as readers see it: every lane, or only those named. */
export function headOfLive(live: LiveRun, lanes?: readonly string[]): Head {
  const { state, seq, approvals, modules, children, deadline_at, check_at, stored_bytes, budget } = live
  live.running_now ??= [...live.running].sort(byLane)
  return {
    state,
    seq,
    lanes: lanesOf(live, lanes),
    running: live.running_now,
    approvals,
    modules,
    children,
    deadline_at,
    ...(check_at === undefined ? {} : { check_at }),
    outbox: outboxOf(live),
    budget,
    ...(stored_bytes === undefined ? {} : { stored_bytes }),
    ...(live.queued ? { queued: true } : {}),
  }
}

function lanesOf({ lanes }: LiveRun, wanted: readonly string[] = [...lanes.keys()]): Readonly<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const lane of wanted) {
    const ordinal = lanes.get(lane)?.ordinal
    if (ordinal !== undefined) found[lane] = ordinal
  }
  return found
}

function outboxOf({ outbox }: LiveRun): readonly OutboxEntry[] {
  return [...outbox.values()].sort((a, b) => compare(a.at, b.at) || compare(a.id, b.id))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/** A run that was just made, with nothing in it. */
export function newLiveRun(run: number, key: RunKey, head: Pick<LiveRun, FirstHead>): LiveRun {
  return {
    ...{ run, key, ...head, state: 'running', seq: 0 },
    ...{ running: new Set(), running_now: undefined, lanes: new Map(), approvals: {}, modules: {}, children: {} },
    ...{ items: new Map(), shares: new Map(), outbox: new Map(), sealed: CHAIN, open: [], joins: new Map() },
    unwritten: nothingUnwritten(),
  }
}

type FirstHead = 'queued' | 'deadline_at' | 'check_at' | 'stored_bytes' | 'budget'

const CHAIN = { seq: 0, hash: CHAIN_START }

function nothingUnwritten(): Unwritten {
  return { head: false, check: false, ledger: false, lanes: new Set(), events: [] }
}

/** Takes the events of an append in, and closes the chain behind them when it is time. */
export function addEvents(live: LiveRun, events: readonly RunEvent[], bodies: readonly string[]): void {
  const before = live.seq
  for (const [i, event] of events.entries()) {
    live.open.push(event)
    live.unwritten.events.push(live.run * SPAN + event.seq, event.id, event.at, withoutTwins(bodies[i] ?? ''))
  }
  live.seq = before + events.length
  live.unwritten.head = true
  const isTime = Math.floor(live.seq / SEAL_AT) > Math.floor(before / SEAL_AT)
  if (isTime || live.state !== 'running') seal(live)
}

function seal(live: LiveRun): void {
  live.sealed = { seq: live.seq, hash: hashAfter(live.open, live.sealed.hash) }
  live.open = []
}

interface LaneRow {
  readonly lane: string
  readonly ordinal: number | null
  readonly lease_until: string | null
  readonly body: string | null
}

interface MapRow {
  readonly map: string
  readonly key: string
  readonly body: string
}

interface SealRow {
  readonly sealed_seq: number
  readonly sealed_hash: string
}

/** Reads a run whole. */
function loader(db: DatabaseSync): (run: number, key: RunKey) => LiveRun | undefined {
  const headOf = headReader(db)
  const eventsOf = eventReader(db)
  const lanes = query<LaneRow>(db, 'SELECT lane, ordinal, lease_until, body FROM lanes WHERE run = ?')
  const maps = query<MapRow>(db, "SELECT map, key, body FROM head_maps WHERE run = ? AND map IN ('items', 'shares')")
  const seals = query<SealRow>(db, 'SELECT sealed_seq, sealed_hash FROM runs WHERE run = ?')
  return (run, key) => {
    const head = headOf(key, [])
    const row = seals.one(run)
    if (head === undefined || row === undefined) return undefined
    const { state, seq, deadline_at, check_at, stored_bytes, budget, approvals, modules, children, running } = head
    const sealed = { seq: row.sealed_seq, hash: row.sealed_hash }
    const live: LiveRun = {
      ...{ run, key, state, seq, deadline_at, check_at, stored_bytes, budget, approvals, modules, children, sealed },
      ...{
        queued: head.queued === true,
        running: new Set(running),
        running_now: undefined,
        lanes: new Map(lanes.all(run).map(laneOf)),
      },
      ...{ items: new Map(), shares: new Map(), outbox: new Map(head.outbox.map((entry) => [entry.id, entry])) },
      open: [...eventsOf(run, key.run_id, sealed.seq, seq - sealed.seq)],
      joins: new Map(),
      unwritten: nothingUnwritten(),
    }
    for (const { map, key: block, body } of maps.all(run)) {
      // Our own texts, written below.
      if (map === 'items') live.items.set(block, JSON.parse(body).failed ?? 0)
      else live.shares.set(block, JSON.parse(body))
    }
    return live
  }
}

function laneOf({ lane, ordinal, lease_until, body }: LaneRow): readonly [string, LiveLane] {
  const projection = body === null ? undefined : JSON.parse(withTwins(body))
  return [lane, { ordinal: ordinal ?? undefined, projection, lease_until: lease_until ?? undefined }]
}

const STATEMENTS = {
  head: `UPDATE runs SET state = ?, seq = ?, running = ?, running_count = ?, deadline_at = ?, queued = ?, stored_bytes = ?,
    sealed_seq = ?, sealed_hash = ? WHERE run = ?`,
  // Of its own: a column of an index costs more.
  check: 'UPDATE runs SET check_at = ? WHERE run = ?',
  ledger: `UPDATE runs SET cap_tokens = ?, cap_usd_micros = ?, committed_tokens = ?, committed_usd_micros = ?,
    spent_tokens = ?, spent_usd_micros = ?, unpriced_tokens = ? WHERE run = ?`,
  lane: `INSERT INTO lanes (run, lane, ordinal, projected, state, holder, lease_until, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET ordinal = excluded.ordinal, projected = excluded.projected, state = excluded.state,
      holder = excluded.holder, lease_until = excluded.lease_until, body = excluded.body`,
} as const

type Sql = Readonly<Record<keyof typeof STATEMENTS, StatementSync>>

/** Writes what changed of a run, each row once. */
function writer(db: DatabaseSync): (live: LiveRun) => void {
  const entries = Object.entries(STATEMENTS).map(([name, source]) => [name, db.prepare(source)])
  const sql: Sql = Object.fromEntries(entries)
  const insert = eventInserter(db)
  return (live) => {
    const { unwritten } = live
    if (unwritten.events.length > 0) insert(unwritten.events)
    if (unwritten.head) sql.head.run(...headValues(live))
    if (unwritten.check) sql.check.run(live.check_at ?? null, live.run)
    if (unwritten.ledger) sql.ledger.run(...ledgerValues(live.budget), live.run)
    for (const lane of unwritten.lanes) sql.lane.run(...laneValues(live, lane))
    unwritten.head = unwritten.check = unwritten.ledger = false
    unwritten.events = []
    unwritten.lanes.clear()
  }
}

function headValues({ state, seq, running, deadline_at, queued, stored_bytes, sealed, run }: LiveRun): SQLInputValue[] {
  // A set as text: ',3,17,'.
  const lanes = running.size === 0 ? ',' : `,${[...running].join(',')},`
  const rest = [deadline_at, queued ? 1 : 0, stored_bytes ?? null, sealed.seq, sealed.hash, run]
  return [state, seq, lanes, running.size, ...rest]
}

function ledgerValues(budget: RunBudget): SQLInputValue[] {
  const { cap_tokens = null, cap_usd_micros = null, unpriced_tokens = null } = budget
  const { committed_tokens, committed_usd_micros, spent_tokens, spent_usd_micros } = budget
  const counted = [committed_tokens, committed_usd_micros, spent_tokens, spent_usd_micros]
  return [cap_tokens, cap_usd_micros, ...counted, unpriced_tokens]
}

function laneValues({ run, lanes }: LiveRun, lane: string): SQLInputValue[] {
  const { ordinal = null, projection, lease_until = null } = lanes.get(lane) ?? {}
  if (projection === undefined) return [run, lane, ordinal, null, null, null, null, null]
  const { state, holder = null } = projection
  return [run, lane, ordinal, projection.ordinal, state, holder, lease_until, withoutTwins(JSON.stringify(projection))]
}

/** Columns of a row of events. */
const COLUMNS = 4
/** A statement costs more than a row. */
const ROWS = [16, 8, 4, 2, 1]

function eventInserter(db: DatabaseSync): (values: readonly SQLInputValue[]) => void {
  const statements = ROWS.map((rows) => {
    const places = Array.from({ length: rows }, () => '(?, ?, ?, ?)').join(', ')
    return { rows, insert: db.prepare(`INSERT INTO events (id, event_id, at, body) VALUES ${places}`) }
  })
  return (values) => {
    let from = 0
    for (const { rows, insert } of statements) {
      for (const size = rows * COLUMNS; values.length - from >= size; from += size) {
        insert.run(...values.slice(from, from + size))
      }
    }
  }
}
