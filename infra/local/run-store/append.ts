import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  approvalChanges,
  checkAppend,
  endedLanes,
  failsItem,
  isApprovalUnchanged,
} from '../../../shared/runs/append-rules.ts'
import { type Amount, fitsBudget, type RunBudget } from '../../../shared/runs/budget.ts'
import type { HeadApproval, OutboxEntry } from '../../../shared/runs/head.ts'
import { laneKey } from '../../../shared/runs/lane.ts'
import type { Append, Appended, ApprovalChange, LaneGuard, RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'
import {
  chainSealer,
  eventBodies,
  foreachUsageReader,
  foreachUsageWriter,
  ledgerReader,
  ledgerWriter,
} from './event-log.ts'
import { query, runNumberLookup } from './query.ts'
import { projectionValues, projectionWriter } from './run-items.ts'
import { SPAN } from './schema.ts'

/**
 * The one write that moves a run: events, lane, running set, approval, state and outbox in one transaction, or a
 * refusal and nothing (docs/architecture.md, "What an append writes"). Its cost does not depend on the size of the DAG.
 */
export function appendOn(db: DatabaseSync): Pick<RunStore, 'append'> {
  const reader = headReader(db)
  const writer = headWriter(db)
  const seal = chainSealer(db)
  return {
    append: async (append) => {
      checkAppend(append)
      const bodies = eventBodies(append.events)
      return commitTogether(db, () => appendNow({ reader, writer, seal }, append, bodies))
    },
  }
}

interface Parts {
  readonly reader: HeadReader
  readonly writer: HeadWriter
  readonly seal: ReturnType<typeof chainSealer>
}

function appendNow({ reader, writer, seal }: Parts, append: Append, bodies: readonly string[]): Appended {
  const head = reader.head(append)
  if (head === undefined) return { ok: false, because: 'unknown_run' }
  if (head.state !== 'running') return { ok: false, because: 'terminal' }
  const passed = laneRefusal(reader, head, append)
  if (passed !== undefined) return { ok: false, because: passed }
  const { start } = append
  if (approvalChanges(append).some(({ id, was }) => !isApprovalUnchanged(reader.approval(head.run, id), was))) {
    return { ok: false, because: 'approval' }
  }
  if (start !== undefined && start.limit > 0 && head.running_count >= start.limit) return { ok: false, because: 'full' }
  if (append.reserve !== undefined && !fitsBudget(reader.budget(head.run), append.reserve)) {
    return { ok: false, because: 'budget' }
  }
  if (!fitsShare(reader, head.run, append)) return { ok: false, because: 'share' }
  writer.write(head.run, head.seq, append, bodies)
  const seq = head.seq + bodies.length
  seal(head.run, append.run, { before: head.seq, seq, ended: (append.state ?? 'running') !== 'running' })
  return { ok: true, seq }
}

/** What its own lane, its block's and its items' say against it. */
function laneRefusal(
  reader: HeadReader,
  { run, ordinal }: HeadRow,
  append: Append,
): 'already' | 'items_failed' | undefined {
  const may = admits(append.guard, ordinal) && isOpen(reader, run, append) && stands(reader, run, append)
  if (!may) return 'already'
  return hasTooManyFailed(reader, run, append) ? 'items_failed' : undefined
}

function stands(reader: HeadReader, run: number, append: Append): boolean {
  return (append.while ?? []).every(({ lane, is }) => (reader.lane(run, lane) ?? null) === is)
}

function isOpen(reader: HeadReader, run: number, { item_of }: Append): boolean {
  return item_of === undefined || (reader.openBlock(run, item_of.block) ?? Number.POSITIVE_INFINITY) < item_of.below
}

function hasTooManyFailed(reader: HeadReader, run: number, { item_of }: Append): boolean {
  return item_of?.most_failed !== undefined && reader.failedItems(run, item_of.block) > item_of.most_failed
}

function fitsShare(reader: HeadReader, run: number, { reserve, share }: Append): boolean {
  if (reserve === undefined || share === undefined) return true
  const { tokens, usd_micros } = reader.share(run, share.block)
  const { cap_tokens = Number.POSITIVE_INFINITY, cap_usd_micros = Number.POSITIVE_INFINITY } = share
  return tokens + reserve.tokens <= cap_tokens && usd_micros + reserve.usd_micros <= cap_usd_micros
}

function admits(guard: LaneGuard, ordinal: number | null): boolean {
  if ('is' in guard) return ordinal === guard.is
  return ordinal === null || ordinal < guard.below
}

interface HeadRow {
  readonly run: number
  readonly state: string
  readonly seq: number
  readonly running_count: number
  readonly ordinal: number | null
}

interface HeadReader {
  head(append: Append): HeadRow | undefined
  /** Where a lane is; undefined before its first step. */
  lane(run: number, lane: string): number | undefined
  /** Where the lane of a foreach block is whose items are open; undefined when they are not. */
  openBlock(run: number, block: number): number | undefined
  /** How many items of a foreach block failed for good since they were opened. */
  failedItems(run: number, block: number): number
  budget(run: number): RunBudget
  /** What the items of a foreach block have committed together. */
  share(run: number, block: number): Amount
  /** As HEAD has it; undefined when it was not asked yet. */
  approval(run: number, id: string): HeadApproval | undefined
}

function headReader(db: DatabaseSync): HeadReader {
  const numberOf = runNumberLookup(db)
  const head = query<HeadRow>(
    db,
    `SELECT r.run, r.state, r.seq, r.running_count, l.ordinal
     FROM runs r LEFT JOIN lanes l ON l.run = r.run AND l.lane = ? WHERE r.run = ?`,
  )
  const approval = query<{ readonly head: string }>(
    db,
    'SELECT head FROM approvals WHERE run = ? AND id = ? AND status IS NOT NULL',
  )
  const openBlock = query<{ readonly ordinal: number }>(
    db,
    `SELECT l.ordinal FROM head_maps m JOIN lanes l ON l.run = m.run AND l.lane = m.key
     WHERE m.run = ? AND m.map = 'items' AND m.key = ? AND l.ordinal IS NOT NULL`,
  )
  const failed = query<{ readonly failed: number | null }>(
    db,
    "SELECT json_extract(body, '$.failed') AS failed FROM head_maps WHERE run = ? AND map = 'items' AND key = ?",
  )
  const lane = query<{ readonly ordinal: number | null }>(db, 'SELECT ordinal FROM lanes WHERE run = ? AND lane = ?')
  return {
    lane: (run, key) => lane.one(run, key)?.ordinal ?? undefined,
    openBlock: (run, block) => openBlock.one(run, String(block))?.ordinal,
    head: ({ lane, run }) => {
      const number = numberOf(run)
      return number === undefined ? undefined : head.one(lane, number)
    },
    failedItems: (run, block) => failed.one(run, String(block))?.failed ?? 0,
    budget: ledgerReader(db),
    share: foreachUsageReader(db),
    approval: (run, id) => {
      const row = approval.one(run, id)
      return row === undefined ? undefined : JSON.parse(row.head)
    },
  }
}

/** Writes one admitted append; the caller holds the transaction and has checked every guard. */
interface HeadWriter {
  /** `seq` is that of the run's newest event before. */
  write(run: number, seq: number, append: HeadChange, bodies: readonly string[]): void
}

type HeadChange = Omit<Append, 'run' | 'guard' | 'events'>

const STATEMENTS = {
  event: 'INSERT INTO events (id, event_id, at, body) VALUES (?, ?, ?, ?)',
  // Most appends have two events: a statement costs more than a row.
  events: 'INSERT INTO events (id, event_id, at, body) VALUES (?, ?, ?, ?), (?, ?, ?, ?)',
  // A block's lane and its projection, which go forward together.
  block: `INSERT INTO lanes (run, lane, ordinal, projected, state, holder, lease_until, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ordinal = excluded.ordinal,
    projected = excluded.projected, state = excluded.state, holder = excluded.holder,
    lease_until = excluded.lease_until, body = excluded.body WHERE excluded.projected > coalesce(lanes.projected, -1)`,
  lane: 'INSERT INTO lanes (run, lane, ordinal) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET ordinal = excluded.ordinal',
  seq: 'UPDATE runs SET seq = ?1 WHERE run = ?2',
  // `running` is a set as text, ',3,17,': the run's row is written by every append anyway, a table of its own would
  // cost each claim and each end one page more.
  start: `UPDATE runs SET seq = ?1, running_count = running_count + (instr(running, ',' || ?3 || ',') = 0),
    running = CASE instr(running, ',' || ?3 || ',') WHEN 0 THEN running || ?3 || ',' ELSE running END WHERE run = ?2`,
  end: `UPDATE runs SET seq = ?1, running_count = running_count - (instr(running, ',' || ?3 || ',') > 0),
    running = replace(running, ',' || ?3 || ',', ',') WHERE run = ?2`,
  // Of a run that began before they were counted it stays NULL.
  stored: 'UPDATE runs SET stored_bytes = stored_bytes + ? WHERE run = ?',
  state: 'UPDATE runs SET state = ? WHERE run = ?',
  deadline: 'UPDATE runs SET deadline_at = ? WHERE run = ?',
  // Two writers who each know a reason to look must not undo one another: the earlier time stays.
  check: 'UPDATE runs SET check_at = min(coalesce(check_at, ?1), ?1) WHERE run = ?2',
  approval: `INSERT INTO approvals (run, id, status, head, closed_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET status = excluded.status, head = excluded.head, closed_at = excluded.closed_at`,
  closeInbox: 'UPDATE approvals SET closed_at = ? WHERE run = ? AND closed_at IS NULL',
  note: 'INSERT OR REPLACE INTO head_maps (run, map, key, body) VALUES (?, ?, ?, ?)',
  failed: `UPDATE head_maps SET body = json_set(body, '$.failed', coalesce(json_extract(body, '$.failed'), 0) + 1)
    WHERE run = ? AND map = 'items' AND key = ?`,
  close: "DELETE FROM head_maps WHERE run = ? AND map = 'items' AND key = ?",
  // '/' is the character after '.'.
  drop: "UPDATE lanes SET ordinal = NULL WHERE run = ?1 AND lane > ?2 || '.' AND lane < ?2 || '/'",
  outbox: 'INSERT OR REPLACE INTO outbox (run, id, at, body) VALUES (?, ?, ?, ?)',
} as const

type Project = ReturnType<typeof projectionWriter>
type Sql = Readonly<Record<keyof typeof STATEMENTS, StatementSync>>

export function headWriter(db: DatabaseSync): HeadWriter {
  const entries = Object.entries(STATEMENTS).map(([name, source]) => [name, db.prepare(source)])
  const sql: Sql = Object.fromEntries(entries)
  const project = projectionWriter(db)
  const ledger = ledgerWriter(db)
  const share = foreachUsageWriter(db)
  return {
    write(run, seq, append, bodies) {
      writeEvents(sql, run, seq, append, bodies)
      writeLane(sql, project, run, append)
      writeRunning(sql, run, seq + bodies.length, append)
      writeRest(sql, run, append)
      ledger(run, append)
      share(run, append)
    },
  }
}

function writeLane(sql: Sql, project: Project, run: number, { lane, ordinal, projection }: HeadChange): void {
  const together = projection?.ordinal === ordinal && laneKey(projection) === lane
  if (projection !== undefined && together) {
    const { changes } = sql.block.run(run, lane, ordinal, ...projectionValues(projection))
    if (changes > 0) return
  }
  sql.lane.run(run, lane, ordinal)
  if (projection !== undefined && !together) project(run, projection)
}

/** What few appends carry: a decision, owed effects, times, the end of the run. */
function writeRest(sql: Sql, run: number, append: HeadChange): void {
  for (const approval of approvalChanges(append)) writeApproval(sql, run, approval, append.at)
  for (const entry of append.outbox ?? []) writeEntry(sql, run, entry)
  writeMaps(sql, run, append)
  if (append.stored_bytes !== undefined) sql.stored.run(append.stored_bytes, run)
  if (append.deadline_at !== undefined) sql.deadline.run(append.deadline_at, run)
  if (append.check_at !== undefined) sql.check.run(append.check_at, run)
  if (append.state !== undefined) {
    sql.state.run(append.state, run)
    if (append.state !== 'running') sql.closeInbox.run(append.at, run)
  }
}

function writeMaps(sql: Sql, run: number, append: HeadChange): void {
  const { module, child, item_of, open_items, drop_items } = append
  if (module !== undefined) sql.note.run(run, 'modules', module.key, JSON.stringify(module.set))
  if (child !== undefined) sql.note.run(run, 'children', child.lane, JSON.stringify(child.run_id))
  if (item_of !== undefined && failsItem(append)) sql.failed.run(run, String(item_of.block))
  const whole = open_items ?? drop_items
  if (whole === undefined) return
  sql.drop.run(run, String(whole.block))
  if (open_items === undefined) sql.close.run(run, String(whole.block))
  else sql.note.run(run, 'items', String(whole.block), '{}')
}

function writeEvents(sql: Sql, run: number, seq: number, { lane, ordinal, at }: HeadChange, bodies: readonly string[]) {
  const first = run * SPAN + seq + 1
  const step = `${lane}/${ordinal}`
  const [one = '', two = ''] = bodies
  if (bodies.length === 2) sql.events.run(first, `${step}/0`, at, one, first + 1, `${step}/1`, at, two)
  else for (const [i, body] of bodies.entries()) sql.event.run(first + i, `${step}/${i}`, at, body)
}

function writeRunning(sql: Sql, run: number, seq: number, { start, end }: HeadChange): void {
  if (start !== undefined) sql.start.run(seq, run, laneKey(start))
  else for (const lane of end === undefined ? [] : endedLanes(end)) sql.end.run(seq, run, lane)
  if (start === undefined && end === undefined) sql.seq.run(seq, run)
}

function writeApproval(sql: Sql, run: number, { id, set }: ApprovalChange, at: string): void {
  sql.approval.run(run, id, set.status, JSON.stringify(set), set.status === 'pending' ? null : at)
}

function writeEntry(sql: Sql, run: number, entry: OutboxEntry): void {
  sql.outbox.run(run, entry.id, entry.at, JSON.stringify(entry))
}
