import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Append } from '../../../shared/runs/append.ts'
import { endedLanes } from '../../../shared/runs/ended-lanes.ts'
import type { HeadApproval, OutboxEntry } from '../../../shared/runs/head.ts'
import { laneKey } from '../../../shared/runs/lane-key.ts'
import { ledgerWriter } from './ledger.ts'
import { projectionValues, projectionWriter } from './projections.ts'
import { SPAN } from './schema.ts'
import { shareWriter } from './share.ts'

/** Writes one admitted append; the caller holds the transaction and has checked every guard. */
export interface HeadWriter {
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
  const share = shareWriter(db)
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
  if (append.approval !== undefined) writeApproval(sql, run, append.approval, append.at)
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

function writeMaps(sql: Sql, run: number, { module, child, open_items, drop_items }: HeadChange): void {
  if (module !== undefined) sql.note.run(run, 'modules', module.key, JSON.stringify(module.set))
  if (child !== undefined) sql.note.run(run, 'children', child.lane, JSON.stringify(child.run_id))
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

interface SetApproval {
  readonly id: string
  readonly set: HeadApproval
}

function writeApproval(sql: Sql, run: number, { id, set }: SetApproval, at: string): void {
  sql.approval.run(run, id, set.status, JSON.stringify(set), set.status === 'pending' ? null : at)
}

function writeEntry(sql: Sql, run: number, entry: OutboxEntry): void {
  sql.outbox.run(run, entry.id, entry.at, JSON.stringify(entry))
}
