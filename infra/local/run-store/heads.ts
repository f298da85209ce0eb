import type { DatabaseSync } from 'node:sqlite'
import { byLane } from '../../../shared/runs/by-lane.ts'
import type { Head, RunState } from '../../../shared/runs/head.ts'
import { RUN_ENDS } from '../../../shared/runs/is-run-end.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { LEDGER_COLUMNS, type LedgerRow, ledgerOf } from './ledger-row.ts'
import { query, runNumbers } from './query.ts'
import { SPAN } from './schema.ts'

/** HEAD as readers see it, and the outbox's other end. */
export function headsOf(db: DatabaseSync): Pick<RunStore, 'head' | 'settleOutbox' | 'moveEntry' | 'moveCheck'> {
  const read = headReader(db)
  const settle = db.prepare(
    'DELETE FROM outbox WHERE run = (SELECT run FROM runs WHERE tenant = ? AND run_id = ?) AND id = ?',
  )
  const entry = 'WHERE run = (SELECT run FROM runs WHERE tenant = ? AND run_id = ?) AND id = ? AND body = ?'
  const change = db.prepare(`UPDATE outbox SET at = ?, body = ? ${entry}`)
  const remove = db.prepare(`DELETE FROM outbox ${entry}`)
  const move = db.prepare('UPDATE runs SET check_at = ? WHERE tenant = ? AND run_id = ? AND check_at = ?')
  return {
    head: async (run, lanes) => read(run, lanes),
    settleOutbox: ({ tenant, run_id }, ids) =>
      commitTogether(db, () => {
        for (const id of ids) settle.run(tenant, run_id, id)
      }),
    moveEntry: ({ tenant, run_id }, was, to) =>
      commitTogether(db, () => {
        const exactly = [tenant, run_id, was.id, JSON.stringify(was)]
        const { changes } =
          to === undefined ? remove.run(...exactly) : change.run(to.at, JSON.stringify(to), ...exactly)
        return changes > 0
      }),
    moveCheck: ({ tenant, run_id }, was, to) =>
      commitTogether(db, () => {
        move.run(to ?? null, tenant, run_id, was)
      }),
  }
}

interface HeadRow extends LedgerRow {
  readonly state: RunState
  readonly seq: number
  readonly running: string
  readonly deadline_at: string
  readonly check_at: string | null
  readonly lanes: string
  readonly approvals: string
  readonly modules: string
  readonly children: string
  readonly outbox: string
  readonly queued: number
  /** null: it began before they were counted. */
  readonly stored_bytes: number | null
  readonly ended: string | null
}

/** Reads HEAD in one statement: every lane, or only those named. */
export function headReader(db: DatabaseSync): (run: RunKey, lanes?: readonly string[]) => Head | undefined {
  const all = query<HeadRow>(
    db,
    headSql('(SELECT json_group_object(lane, ordinal) FROM lanes WHERE run = r.run AND ordinal IS NOT NULL)'),
  )
  const none = query<HeadRow>(db, headSql("'{}'"))
  const some = query<HeadRow>(
    db,
    headSql(`(SELECT json_group_object(l.lane, l.ordinal) FROM json_each(?2) wanted
      CROSS JOIN lanes l ON l.run = r.run AND l.lane = wanted.value AND l.ordinal IS NOT NULL)`),
  )
  const numberOf = runNumbers(db)
  return (key, lanes) => {
    const run = numberOf(key)
    if (run === undefined) return undefined
    if (lanes === undefined) return headOf(all.one(run))
    if (lanes.length === 0) return headOf(none.one(run))
    return headOf(some.one(run, JSON.stringify(lanes)))
  }
}

function headSql(lanes: string): string {
  return `SELECT r.state, r.seq, r.running, r.deadline_at, r.check_at, r.queued, r.stored_bytes, ${LEDGER_COLUMNS}, ${lanes} AS lanes,
    (SELECT json_group_object(id, json(head)) FROM approvals WHERE run = r.run AND status IS NOT NULL) AS approvals,
    ${mapSql('modules')}, ${mapSql('children')},
    CASE WHEN r.state <> 'running' THEN ${ENDED} END AS ended,
    (SELECT json_group_array(json(body)) FROM (SELECT body FROM outbox WHERE run = r.run ORDER BY at, id)) AS outbox
    FROM runs r WHERE r.run = ?1`
}

/** Nothing is written after the event that ends a run. One that is damaged must not hide the run from who looks into it. */
const ENDED = `(SELECT json_object('at', at, 'code', body ->> '$.data.code', 'reason', body ->> '$.data.reason')
      FROM events WHERE id = r.run * ${SPAN} + r.seq
        AND CASE WHEN json_valid(body) THEN body ->> '$.type' END IN (${RUN_ENDS.map((type) => `'${type}'`)}))`

function mapSql(map: 'modules' | 'children'): string {
  return `(SELECT json_group_object(key, json(body)) FROM head_maps WHERE run = r.run AND map = '${map}') AS ${map}`
}

function headOf(row: HeadRow | undefined): Head | undefined {
  if (row === undefined) return undefined
  const { state, seq, deadline_at, check_at } = row
  return {
    state,
    seq,
    lanes: JSON.parse(row.lanes),
    // Read by few callers, and a thousand numbers when a wide DAG runs without a limit.
    get running() {
      return lanesOf(row.running)
    },
    approvals: JSON.parse(row.approvals),
    modules: JSON.parse(row.modules),
    children: JSON.parse(row.children),
    deadline_at,
    ...(check_at === null ? {} : { check_at }),
    outbox: JSON.parse(row.outbox),
    budget: ledgerOf(row),
    ...(row.stored_bytes === null ? {} : { stored_bytes: row.stored_bytes }),
    ...(row.ended === null ? {} : { ended: JSON.parse(row.ended) }),
    ...(row.queued === 1 ? { queued: true } : {}),
  }
}

/** ',17,3.2,' -> ['3.2', '17'] */
function lanesOf(running: string): readonly string[] {
  return running === ',' ? [] : running.slice(1, -1).split(',').sort(byLane)
}
