import type { DatabaseSync } from 'node:sqlite'
import { RUN_ENDS } from '../../../shared/runs/event-types.ts'
import type { Head, RunState } from '../../../shared/runs/head.ts'
import { byLane } from '../../../shared/runs/lane.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { LEDGER_COLUMNS, type LedgerRow, ledgerOf } from './event-log.ts'
import { query, runNumberLookup } from './query.ts'
import { SPAN } from './schema.ts'

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
  readonly resting: string | null
  readonly paused: string | null
  /** null: it began before they were counted. */
  readonly stored_bytes: number | null
  readonly ended: string | null
  readonly labels: string | null
}

/** HEAD as the file has it, in one statement: every lane, or only those named. */
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
  const numberOf = runNumberLookup(db)
  return (key, lanes) => {
    const run = numberOf(key)
    if (run === undefined) return undefined
    if (lanes === undefined) return headOf(all.one(run))
    if (lanes.length === 0) return headOf(none.one(run))
    return headOf(some.one(run, JSON.stringify(lanes)))
  }
}

function headSql(lanes: string): string {
  return `SELECT r.state, r.seq, r.running, r.deadline_at, r.check_at, r.queued, r.resting, r.paused, r.stored_bytes, ${LEDGER_COLUMNS}, ${lanes} AS lanes,
    (SELECT json_group_object(id, json(head)) FROM approvals WHERE run = r.run AND status IS NOT NULL) AS approvals,
    ${mapSql('modules')}, ${mapSql('children')}, ${LABELS} AS labels,
    CASE WHEN r.state <> 'running' THEN ${ENDED} END AS ended,
    (SELECT json_group_array(json(body)) FROM (SELECT body FROM outbox WHERE run = r.run ORDER BY at, id)) AS outbox
    FROM runs r WHERE r.run = ?1`
}

/** Once they were changed. */
const LABELS = "(SELECT body FROM head_maps WHERE run = r.run AND map = 'labels' AND key = '' AND json_valid(body))"

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
    ...(row.resting === null ? {} : { resting: JSON.parse(row.resting) }),
    ...(row.paused === null ? {} : { paused: JSON.parse(row.paused) }),
    ...(row.labels === null ? {} : { labels: JSON.parse(row.labels) }),
  }
}

/** ',17,3.2,' -> ['3.2', '17'] */
function lanesOf(running: string): readonly string[] {
  return running === ',' ? [] : running.slice(1, -1).split(',').sort(byLane)
}
