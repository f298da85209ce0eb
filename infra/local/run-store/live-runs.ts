import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { restText } from '../../../shared/runs/append-rules.ts'
import type { Amount, RunBudget } from '../../../shared/runs/budget.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { CHAIN_START, hashAfter } from '../../../shared/runs/hash-chain.ts'
import type {
  Head,
  HeadApproval,
  HeadModule,
  OutboxEntry,
  Paused,
  Rest,
  RunEnding,
  RunState,
} from '../../../shared/runs/head.ts'
import type { ChangedLabels } from '../../../shared/runs/labels.ts'
import { byLane } from '../../../shared/runs/lane.ts'
import { pausedText } from '../../../shared/runs/pause.ts'
import type { birthFacts } from '../../../shared/runs/run-facts.ts'
import type { Meta, RunKey } from '../../../shared/runs/run-store.ts'
import type { BlockProjection, ContextItem } from '../../../shared/runs/run-store-items.ts'
import { allCommitted, onTransactions } from '../database.ts'
import { inserter } from '../insert-rows.ts'
import { eventReader } from './event-log.ts'
import { factsWriter } from './facts-writer.ts'
import { forgetRunNumbers, nameOf, noteRunNumber, query, runNumberLookup } from './query.ts'
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
  resting?: Rest | undefined
  paused?: Paused | undefined
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
  /** Those of them that may have a row. */
  readonly filed: Set<string>
  /** It may have rows of questions to people. */
  asked: boolean
  /** Once it has ended. */
  ended?: RunEnding | undefined
  /** Once they were changed. */
  labels?: ChangedLabels | undefined
  /** The closed part of its hash chain. */
  sealed: { readonly seq: number; readonly hash: string }
  /** Every event behind that. */
  open: RunEvent[]
  /** It was made here: what is not in memory is not in the file either. */
  readonly isWhole: boolean
  /** What is read again and again, once somebody has. */
  meta?: Meta
  context?: ContextItem
  readonly joins: Map<string, LiveJoin>
  unwritten: Unwritten
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
  /** The run itself: what of its rows never changes, or is another's row. */
  readonly birth?: Birth
  head: boolean
  check: boolean
  ledger: boolean
  /** It has ended: what it is found by says so. */
  ends: boolean
  readonly lanes: Set<string>
  /** Entries of the outbox that are owed, and rows of such that are done. */
  readonly owed: Set<string>
  readonly settled: Set<string>
  /** Of joins: who waits for how many, and who is done. */
  readonly waits: (readonly [join: string, token: string, need: number])[]
  readonly done: (readonly [join: string, source: string])[]
  /** seq, id, time and text of each event. */
  readonly events: SQLInputValue[]
}

interface Birth {
  readonly dag_name: string
  readonly created_at: string
  /** META and the context it begins with, as JSON. */
  readonly meta: string
  readonly context: string
  readonly facts: ReturnType<typeof birthFacts>
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
  /** A run that is made now; its rows are written with the next commit. */
  make(key: RunKey, head: Pick<LiveRun, FirstHead>, birth: Birth): LiveRun
  /** It will be written before the commit. */
  changed(run: LiveRun): void
  /** Waits until what was decided about this run is in the file: before its rows are read. */
  toFile(run: number): Promise<void> | undefined
  /** Writes now what the file does not have yet: before a statement that reads these rows or changes them. */
  write(): void
  /** Of all that is in the file nothing is believed any more. */
  forgetWritten(): void
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
  known.get(db)?.forgetWritten()
}

function openLiveRuns(db: DatabaseSync): LiveRuns {
  const runs = new Map<number, LiveRun>()
  const changed = new Set<LiveRun>()
  const ended = new Set<number>()
  const nextNumber = runNumbers(db)
  const numberOf = runNumberLookup(db)
  const load = loader(db)
  const write = writer(db)
  /** Those that were written since the last commit and have ended. */
  const over = new Set<LiveRun>()
  const writeAll = () => {
    for (const run of changed) {
      write(run)
      if (run.state !== 'running') over.add(run)
    }
    changed.clear()
  }
  const forget = () => {
    runs.clear()
    changed.clear()
    ended.clear()
    over.clear()
  }
  let commits = 0
  onTransactions(db, {
    beforeCommit() {
      writeAll()
      keepFew(runs, ended, over)
      over.clear()
      commits += 1
      if (commits % COMMITS_A_LOOK === 0) makeRoom(runs)
    },
    afterRollback: forget,
  })
  const add = (run: LiveRun) => {
    runs.set(run.run, run)
    if (run.state !== 'running') ended.add(run.run)
  }
  return {
    peek: (run) => runs.get(run),
    open(key) {
      const number = numberOf(key)
      if (number === undefined) return undefined
      const there = runs.get(number)
      if (there !== undefined) return there
      const read = load(number, key)
      // A large one that has ended is not kept (`keepFew`).
      if (read !== undefined && (read.state === 'running' || isSmall(read))) add(read)
      return read
    },
    make(key, head, birth) {
      const run = newLiveRun(nextNumber(key), key, head, birth)
      noteRunNumber(db, key, run.run)
      add(run)
      return run
    },
    changed: (run) => void changed.add(run),
    toFile(run) {
      const one = runs.get(run)
      return one !== undefined && changed.has(one) ? allCommitted(db) : undefined
    },
    write: writeAll,
    forgetWritten() {
      for (const [run, one] of runs) {
        if (changed.has(one)) continue
        runs.delete(run)
        ended.delete(run)
      }
    },
  }
}

/** A run that ended is read by those who follow its end, at once: of the last ones the small stay. */
const ENDED_KEPT = 64
const SMALL_LANES = 300

function isSmall({ lanes }: LiveRun): boolean {
  return lanes.size <= SMALL_LANES
}

function keepFew(runs: Map<number, LiveRun>, ended: Set<number>, over: Iterable<LiveRun>): void {
  for (const one of over) {
    if (isSmall(one)) ended.add(one.run)
    else runs.delete(one.run)
  }
  for (const run of ended) {
    if (ended.size <= ENDED_KEPT) return
    ended.delete(run)
    runs.delete(run)
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

/** An effect that is owed from now on. */
export function oweEntry({ outbox, unwritten }: LiveRun, entry: OutboxEntry): void {
  outbox.set(entry.id, entry)
  unwritten.settled.delete(entry.id)
  unwritten.owed.add(entry.id)
}

/** It is done, or stands in the way of nothing any more. */
export function settleEntry({ outbox, filed, unwritten }: LiveRun, id: string): void {
  if (!outbox.delete(id)) return
  unwritten.owed.delete(id)
  // One that came and went between two commits never has a row.
  if (filed.has(id)) unwritten.settled.add(id)
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
    ...(live.ended === undefined ? {} : { ended: live.ended }),
    ...(live.queued ? { queued: true } : {}),
    ...(live.resting === undefined ? {} : { resting: live.resting }),
    ...(live.paused === undefined ? {} : { paused: live.paused }),
    ...(live.labels === undefined ? {} : { labels: live.labels }),
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

/**
 * Numbers of new runs, each above all before it. One that is made again, after a transaction that failed, has the number it
 * had: somebody may wait to read its rows.
 */
function runNumbers(db: DatabaseSync): (key: RunKey) => number {
  const last = query<{ readonly run: number }>(db, 'SELECT coalesce(max(run), 0) AS run FROM runs')
  let given: number | undefined
  const unwritten = new Map<string, number>()
  onTransactions(db, { afterCommit: () => unwritten.clear() })
  return (key) => {
    const name = nameOf(key)
    const there = unwritten.get(name)
    if (there !== undefined) return there
    given = (given ?? last.one()?.run ?? 0) + 1
    unwritten.set(name, given)
    return given
  }
}

/** A run that was just made, with nothing in it. */
function newLiveRun(run: number, key: RunKey, head: Pick<LiveRun, FirstHead>, birth: Birth): LiveRun {
  return {
    ...{ run, key, ...head, state: 'running', seq: 0 },
    ...{ running: new Set(), running_now: undefined, lanes: new Map(), approvals: {}, modules: {}, children: {} },
    ...{ items: new Map(), shares: new Map(), outbox: new Map(), sealed: CHAIN, open: [], joins: new Map() },
    ...{ filed: new Set(), asked: false, isWhole: true },
    // As they will be read.
    ...{ meta: JSON.parse(birth.meta), context: { version: 0, values: JSON.parse(birth.context) } },
    unwritten: { ...nothingUnwritten(), birth },
  }
}

type FirstHead = 'queued' | 'deadline_at' | 'check_at' | 'stored_bytes' | 'budget'

const CHAIN = { seq: 0, hash: CHAIN_START }

function nothingUnwritten(): Unwritten {
  const ids = { lanes: new Set<string>(), owed: new Set<string>(), settled: new Set<string>() }
  const rows = { ...ids, events: [], waits: [], done: [] }
  return { head: false, check: false, ledger: false, ends: false, ...rows }
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
        resting: head.resting,
        paused: head.paused,
        ended: head.ended,
        labels: head.labels,
        running: new Set(running),
        running_now: undefined,
        lanes: new Map(lanes.all(run).map(laneOf)),
      },
      ...{ items: new Map(), shares: new Map(), outbox: new Map(head.outbox.map((entry) => [entry.id, entry])) },
      ...{ filed: new Set(head.outbox.map(({ id }) => id)), asked: true },
      open: [...eventsOf(run, key.run_id, sealed.seq, seq - sealed.seq)],
      joins: new Map(),
      isWhole: false,
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
  birth: `INSERT INTO runs (state, seq, running, running_count, deadline_at, queued, resting, paused, stored_bytes, sealed_seq, sealed_hash, run,
    cap_tokens, cap_usd_micros, committed_tokens, committed_usd_micros, spent_tokens, spent_usd_micros, unpriced_tokens,
    tenant, run_id, dag_name, created_at, check_at, stopped)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
  meta: 'INSERT INTO metas (run, body) VALUES (?, ?)',
  context: 'INSERT INTO contexts (run, version, body) VALUES (?, 0, ?)',
  head: `UPDATE runs SET state = ?, seq = ?, running = ?, running_count = ?, deadline_at = ?, queued = ?, resting = ?, paused = ?, stored_bytes = ?,
    sealed_seq = ?, sealed_hash = ? WHERE run = ?`,
  // Of its own: a column of an index costs more.
  check: 'UPDATE runs SET check_at = ? WHERE run = ?',
  owed: 'INSERT OR REPLACE INTO outbox (run, id, at, body) VALUES (?, ?, ?, ?)',
  settled: 'DELETE FROM outbox WHERE run = ? AND id = ?',
  ledger: `UPDATE runs SET cap_tokens = ?, cap_usd_micros = ?, committed_tokens = ?, committed_usd_micros = ?,
    spent_tokens = ?, spent_usd_micros = ?, unpriced_tokens = ? WHERE run = ?`,
} as const

type Sql = Readonly<Record<keyof typeof STATEMENTS, StatementSync>>

/** Writes what changed of a run, each row once. */
function writer(db: DatabaseSync): (live: LiveRun) => void {
  const entries = Object.entries(STATEMENTS).map(([name, source]) => [name, db.prepare(source)])
  const sql: Sql = Object.fromEntries(entries)
  const events = inserter(db, 'INTO events (id, event_id, at, body)', 4)
  const facts = factsWriter(db)
  const done = inserter(db, 'OR IGNORE INTO join_done (run, key, source)', 3)
  const waits = inserter(
    db,
    'INTO join_waits (run, key, token, need)',
    4,
    'ON CONFLICT DO UPDATE SET need = excluded.need',
  )
  const lanes = inserter(
    db,
    'INTO lanes (run, lane, ordinal, projected, state, holder, lease_until, body)',
    8,
    `ON CONFLICT DO UPDATE SET ordinal = excluded.ordinal, projected = excluded.projected, state = excluded.state,
      holder = excluded.holder, lease_until = excluded.lease_until, body = excluded.body`,
  )
  return (live) => {
    const { unwritten } = live
    if (unwritten.birth === undefined) writeHead(sql, live)
    else writeBirth(sql, live, unwritten.birth)
    const end = unwritten.ends ? headOfLive(live, []) : undefined
    if (unwritten.birth !== undefined) facts.begin(live, unwritten.birth.facts, end)
    else if (end !== undefined) facts.end(live.run, end)
    if (unwritten.events.length > 0) events(unwritten.events)
    if (unwritten.lanes.size > 0) lanes([...unwritten.lanes].flatMap((lane) => laneValues(live, lane)))
    if (unwritten.waits.length > 0) waits(unwritten.waits.flatMap((wait) => [live.run, ...wait]))
    if (unwritten.done.length > 0) done(unwritten.done.flatMap((one) => [live.run, ...one]))
    writeSeldom(sql, live)
    live.unwritten = nothingUnwritten()
  }
}

function writeHead(sql: Sql, live: LiveRun): void {
  const { unwritten } = live
  if (unwritten.head) sql.head.run(...headValues(live))
  if (unwritten.check) sql.check.run(live.check_at ?? null, live.run)
  if (unwritten.ledger) sql.ledger.run(...ledgerValues(live.budget), live.run)
}

/** One row, as the run is by now. */
function writeBirth(sql: Sql, live: LiveRun, { dag_name, created_at, meta, context }: Birth): void {
  const { tenant, run_id } = live.key
  const rest = [tenant, run_id, dag_name, created_at, live.check_at ?? null]
  sql.birth.run(...headValues(live), ...ledgerValues(live.budget), ...rest)
  sql.meta.run(live.run, meta)
  sql.context.run(live.run, context)
}

function writeSeldom(sql: Sql, { run, outbox, filed, unwritten }: LiveRun): void {
  for (const id of unwritten.settled) {
    sql.settled.run(run, id)
    filed.delete(id)
  }
  for (const id of unwritten.owed) {
    const entry = outbox.get(id)
    if (entry === undefined) continue
    sql.owed.run(run, id, entry.at, JSON.stringify(entry))
    filed.add(id)
  }
}

function headValues(live: LiveRun): SQLInputValue[] {
  const { state, seq, running, deadline_at, queued, resting = null, paused, stored_bytes = null, sealed, run } = live
  // A set as text: ',3,17,'.
  const lanes = running.size === 0 ? ',' : `,${[...running].join(',')},`
  const slot = [queued ? 1 : 0, restText(resting), paused === undefined ? null : pausedText(paused)]
  return [state, seq, lanes, running.size, deadline_at, ...slot, stored_bytes, sealed.seq, sealed.hash, run]
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
