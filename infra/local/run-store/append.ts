import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  approvalChanges,
  checkAppend,
  endedLanes,
  failsItem,
  isApprovalUnchanged,
  refusesRest,
  runEnding,
} from '../../../shared/runs/append-rules.ts'
import { type Amount, fitsBudget, NOTHING, type Spent } from '../../../shared/runs/budget.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { earlierTime, type HeadApproval, type OutboxEntry } from '../../../shared/runs/head.ts'
import { laneKey, laneOwner } from '../../../shared/runs/lane.ts'
import type { Append, Appended, ApprovalChange, LaneGuard, RunStore } from '../../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../../shared/runs/run-store-items.ts'
import { commitTogether, decideFirst } from '../database.ts'
import { eventBodies } from './event-log.ts'
import { addEvents, type LiveLane, type LiveRun, type LiveRuns, liveRunsOf, oweEntry } from './live-runs.ts'
import { nameOf, runNumberLookup } from './query.ts'

/**
 * The one write that moves a run: events, lane, running set, approval, state and outbox in one transaction, or a
 * refusal and nothing (docs/architecture.md, "What an append writes"). Its cost does not depend on the size of the DAG.
 */
export function appendOn(db: DatabaseSync): Pick<RunStore, 'append' | 'in_order'> {
  const live = liveRunsOf(db)
  const write = headWriter(db)
  const numberOf = runNumberLookup(db)
  return {
    in_order: true,
    append: async (append) => {
      checkAppend(append)
      const bodies = eventBodies(append.events)
      const work = () => appendNow(live, write, append, bodies)
      const about = nameOf(append.run)
      const isDecided = isInMemory(append) && (isRepeatable(append) || endsQuietly(append, live, numberOf))
      return isDecided ? decideFirst(db, work, about) : commitTogether(db, work, about)
    },
  }
}

/** Of what is written below only these rows wait for the commit: HEAD, lanes, events, the ledger, the outbox. */
function isInMemory(append: Append): boolean {
  const { approval, further_approvals, module, child, open_items, drop_items, share } = append
  const others = [approval, further_approvals, module, child, open_items, drop_items, share]
  return others.every((one) => one === undefined) && !(append.item_of && failsItem(append))
}

function isRepeatable({ repeatable, state, outbox }: Append): boolean {
  return repeatable === true && state === undefined && outbox === undefined
}

/**
 * An end that leaves nothing outside this process to do, and no question to people to close: a place that is killed before
 * its commit goes on where the file is, and ends the run again.
 */
function endsQuietly({ state, outbox = [], run }: Append, runs: LiveRuns, numberOf: NumberOf): boolean {
  const number = numberOf(run)
  const live = number === undefined ? undefined : runs.peek(number)
  return state !== undefined && live?.asked === false && outbox.every(({ kind }) => INSIDE.has(kind))
}

type NumberOf = ReturnType<typeof runNumberLookup>

/** What it comes to is rows of the same file, which are written behind the end. */
const INSIDE: ReadonlySet<OutboxEntry['kind']> = new Set(['release_lease', 'tell_triggers', 'list_words'])

function appendNow(runs: LiveRuns, write: HeadWriter, append: Append, bodies: readonly string[]): Appended {
  const live = runs.open(append.run)
  if (live === undefined) return { ok: false, because: 'unknown_run' }
  if (live.state !== 'running') return { ok: false, because: 'terminal' }
  const because = laneRefusal(live, append) ?? headRefusal(live, append)
  if (because !== undefined) return { ok: false, because }
  write(live, append, bodies)
  return { ok: true, seq: live.seq }
}

/** What its own lane, its block's and its items' say against it. */
function laneRefusal(live: LiveRun, append: Append): 'already' | 'items_failed' | undefined {
  const may = admits(append.guard, ordinalOf(live, append.lane)) && isOpen(live, append) && stands(live, append)
  if (!may) return 'already'
  return hasTooManyFailed(live, append) ? 'items_failed' : undefined
}

function ordinalOf({ lanes }: LiveRun, lane: string): number | null {
  return lanes.get(lane)?.ordinal ?? null
}

function stands(live: LiveRun, append: Append): boolean {
  return (append.while ?? []).every(({ lane, is }) => ordinalOf(live, lane) === is)
}

function isOpen(live: LiveRun, { item_of }: Append): boolean {
  if (item_of === undefined) return true
  const block = String(item_of.block)
  return live.items.has(block) && (ordinalOf(live, block) ?? Number.POSITIVE_INFINITY) < item_of.below
}

function hasTooManyFailed(live: LiveRun, { item_of }: Append): boolean {
  return item_of?.most_failed !== undefined && (live.items.get(String(item_of.block)) ?? 0) > item_of.most_failed
}

function headRefusal(live: LiveRun, append: Append): 'approval' | 'resting' | 'full' | 'budget' | 'share' | undefined {
  const { start, reserve } = append
  if (approvalChanges(append).some(({ id, was }) => !isApprovalUnchanged(approvalOf(live, id), was))) return 'approval'
  if (refusesRest({ resting: live.resting, works: live.running.size > 0 }, append)) return 'resting'
  if (start !== undefined && start.limit > 0 && live.running.size >= start.limit) return 'full'
  if (reserve !== undefined && !fitsBudget(live.budget, reserve)) return 'budget'
  return fitsShare(live, append) ? undefined : 'share'
}

function approvalOf({ approvals }: LiveRun, id: string): HeadApproval | undefined {
  return Object.hasOwn(approvals, id) ? approvals[id] : undefined
}

function fitsShare({ shares }: LiveRun, { reserve, share }: Append): boolean {
  if (reserve === undefined || share === undefined) return true
  const { tokens, usd_micros } = shares.get(String(share.block)) ?? NOTHING
  const { cap_tokens = Number.POSITIVE_INFINITY, cap_usd_micros = Number.POSITIVE_INFINITY } = share
  return tokens + reserve.tokens <= cap_tokens && usd_micros + reserve.usd_micros <= cap_usd_micros
}

function admits(guard: LaneGuard, ordinal: number | null): boolean {
  if ('is' in guard) return ordinal === guard.is
  return ordinal === null || ordinal < guard.below
}

export type HeadChange = Omit<Append, 'run' | 'guard'>

/** Makes one admitted append; the caller holds the transaction and has checked every guard. */
export type HeadWriter = (live: LiveRun, append: HeadChange, bodies: readonly string[]) => void

const STATEMENTS = {
  approval: `INSERT INTO approvals (run, id, status, head, closed_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET status = excluded.status, head = excluded.head, closed_at = excluded.closed_at`,
  closeInbox: 'UPDATE approvals SET closed_at = ? WHERE run = ? AND closed_at IS NULL',
  note: 'INSERT OR REPLACE INTO head_maps (run, map, key, body) VALUES (?, ?, ?, ?)',
  forget: 'DELETE FROM head_maps WHERE run = ? AND map = ? AND key = ?',
} as const

type Sql = Readonly<Record<keyof typeof STATEMENTS, StatementSync>>

export function headWriter(db: DatabaseSync): HeadWriter {
  const entries = Object.entries(STATEMENTS).map(([name, source]) => [name, db.prepare(source)])
  const sql: Sql = Object.fromEntries(entries)
  const runs = liveRunsOf(db)
  return (live, append, bodies) => {
    live.state = append.state ?? live.state
    if (live.state !== 'running') {
      live.ended = runEnding(append)
      live.unwritten.ends = true
    }
    addEvents(live, eventsOf(live, append), bodies)
    moveLane(live, append)
    moveRunning(live, append)
    writeRest(sql, live, append)
    moveLedger(live, append)
    moveShare(sql, live, append)
    runs.changed(live)
  }
}

/** As they are read again. */
function eventsOf({ seq, key }: LiveRun, { lane, ordinal, at, events }: HeadChange): readonly RunEvent[] {
  const { run_id } = key
  return events.map((event, i) => ({ seq: seq + 1 + i, id: `${lane}/${ordinal}/${i}`, run_id, at, ...event }))
}

function moveLane(live: LiveRun, { lane, ordinal, projection }: HeadChange): void {
  laneOf(live, lane).ordinal = ordinal
  if (projection !== undefined) project(live, projection)
}

/** Writes B# forward only. */
export function project(live: LiveRun, projection: BlockProjection): void {
  const lane = laneOf(live, laneKey(projection))
  if (projection.ordinal <= (lane.projection?.ordinal ?? -1)) return
  lane.projection = projection
  lane.lease_until = projection.lease_until
}

/** A lane that is about to change. */
function laneOf({ lanes, unwritten }: LiveRun, key: string): LiveLane {
  const there = lanes.get(key) ?? { ordinal: undefined, projection: undefined, lease_until: undefined }
  lanes.set(key, there)
  unwritten.lanes.add(key)
  return there
}

function moveRunning(live: LiveRun, { start, end }: HeadChange): void {
  const { running } = live
  if (start !== undefined || end !== undefined) live.running_now = undefined
  if (start !== undefined) running.add(laneKey(start))
  else if (end !== undefined) for (const lane of endedLanes(end)) running.delete(lane)
}

/** What few appends carry: a decision, owed effects, times. */
function writeRest(sql: Sql, live: LiveRun, append: HeadChange): void {
  const { outbox = [], stored_bytes, deadline_at, check_at } = append
  standOrGoOn(live, append)
  for (const approval of approvalChanges(append)) writeApproval(sql, live, approval, append.at)
  for (const entry of outbox) oweEntry(live, entry)
  writeMaps(sql, live, append)
  if (live.state !== 'running' && live.asked) sql.closeInbox.run(append.at, live.run)
  // Of a run that began before they were counted it stays unknown.
  if (stored_bytes !== undefined && live.stored_bytes !== undefined) live.stored_bytes += stored_bytes
  if (deadline_at !== undefined) live.deadline_at = deadline_at
  if (check_at === undefined || check_at === live.check_at) return
  // Two writers who each know a reason to look must not undo one another: the earlier time stays.
  live.check_at = earlierTime(live.check_at, check_at)
  live.unwritten.check = true
}

function standOrGoOn(live: LiveRun, { rest, pause }: HeadChange): void {
  if (rest !== undefined) live.resting = rest.set ?? undefined
  if (pause !== undefined) live.paused = pause ?? undefined
}

function writeMaps(sql: Sql, live: LiveRun, append: HeadChange): void {
  const { module, child, item_of, open_items, drop_items } = append
  const note = (map: string, key: string, body: unknown) => sql.note.run(live.run, map, key, JSON.stringify(body))
  if (module !== undefined) {
    note('modules', module.key, module.set)
    live.modules = { ...live.modules, [module.key]: module.set }
  }
  if (child !== undefined) {
    note('children', child.lane, child.run_id)
    live.children = { ...live.children, [child.lane]: child.run_id }
  }
  if (item_of !== undefined && failsItem(append)) {
    const block = String(item_of.block)
    const failed = (live.items.get(block) ?? 0) + 1
    live.items.set(block, failed)
    note('items', block, { failed })
  }
  const whole = open_items ?? drop_items
  if (whole === undefined) return
  const block = String(whole.block)
  closeItemLanes(live, whole.block)
  if (open_items === undefined) {
    live.items.delete(block)
    sql.forget.run(live.run, 'items', block)
  } else {
    live.items.set(block, 0)
    note('items', block, {})
  }
}

function closeItemLanes(live: LiveRun, block: number): void {
  for (const [key, lane] of live.lanes) {
    const owner = laneOwner(key)
    if (owner?.block !== block || owner.item === undefined || lane.ordinal === undefined) continue
    lane.ordinal = undefined
    live.unwritten.lanes.add(key)
  }
}

function writeApproval(sql: Sql, live: LiveRun, { id, set }: ApprovalChange, at: string): void {
  live.approvals = { ...live.approvals, [id]: set }
  live.asked = true
  sql.approval.run(live.run, id, set.status, JSON.stringify(set), set.status === 'pending' ? null : at)
}

/** Reserves, settles and raises. */
function moveLedger(live: LiveRun, { reserve, settle, raise }: HeadChange): void {
  if (reserve === undefined && settle === undefined && raise === undefined) return
  const { budget } = live
  const { cap_tokens, cap_usd_micros, unpriced_tokens } = budget
  const { spent = NOTHING } = settle ?? {}
  const change = committed(reserve, settle)
  live.budget = {
    // A unit without a cap gets none.
    ...(cap_tokens === undefined ? {} : { cap_tokens: Math.max(cap_tokens, raise?.tokens ?? 0) }),
    ...(cap_usd_micros === undefined ? {} : { cap_usd_micros: Math.max(cap_usd_micros, raise?.usd_micros ?? 0) }),
    committed_tokens: budget.committed_tokens + change.tokens,
    committed_usd_micros: budget.committed_usd_micros + change.usd_micros,
    spent_tokens: budget.spent_tokens + spent.tokens,
    spent_usd_micros: budget.spent_usd_micros + spent.usd_micros,
    ...(unpriced_tokens === undefined ? {} : { unpriced_tokens: unpriced_tokens + unpricedOf(spent) }),
  }
  live.unwritten.ledger = true
}

function unpricedOf({ unpriced_tokens = 0 }: Spent): number {
  return unpriced_tokens
}

/** What a reservation and a settlement together change of what is committed. */
function committed(reserve: Amount = NOTHING, settle?: Append['settle']): Amount {
  const { reserved = NOTHING, spent = NOTHING } = settle ?? {}
  return {
    tokens: reserve.tokens + spent.tokens - reserved.tokens,
    usd_micros: reserve.usd_micros + spent.usd_micros - reserved.usd_micros,
  }
}

/** Counts what an append reserves and settles for a foreach block; its end forgets it. */
function moveShare(sql: Sql, live: LiveRun, { reserve, settle, share, drop_items }: HeadChange): void {
  if (drop_items !== undefined && live.shares.delete(String(drop_items.block))) {
    sql.forget.run(live.run, 'shares', String(drop_items.block))
  }
  if (share === undefined || share.block === drop_items?.block) return
  const block = String(share.block)
  const before = live.shares.get(block) ?? NOTHING
  const change = committed(reserve, settle)
  const after = { tokens: before.tokens + change.tokens, usd_micros: before.usd_micros + change.usd_micros }
  live.shares.set(block, after)
  sql.note.run(live.run, 'shares', block, JSON.stringify(after))
}
