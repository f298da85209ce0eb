import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import { RUN_ENDS } from '../../../shared/runs/event-types.ts'
import type { Head, RunState } from '../../../shared/runs/head.ts'
import { byLane, ordinal, PHASE } from '../../../shared/runs/lane.ts'
import type { DamagedRun, Meta, NewRun, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'
import { headWriter } from './append.ts'
import { eventBodies, LEDGER_COLUMNS, type LedgerRow, ledgerOf } from './event-log.ts'
import { query, requireRunNumber, runNumberLookup } from './query.ts'
import { SPAN } from './schema.ts'

/** run:started is the first step of the run's own lane. */
const STARTED = ordinal({ epoch: 0, attempt: 0, phase: PHASE.claimed })

/** Creates a run once: HEAD, META, CTX and run:started together. */
export function runsOn(db: DatabaseSync): Pick<RunStore, 'create' | 'meta' | 'parentTokens'> {
  const metaOf = metaReader(db)
  const insert = insertRun(db)
  const numberOf = runNumberLookup(db)
  const addToken = db.prepare('INSERT OR IGNORE INTO parent_tokens (run, token) VALUES (?, ?)')
  const tokens = query<{ readonly token: string }>(db, 'SELECT token FROM parent_tokens WHERE run = ? ORDER BY token')
  return {
    create: async (run) => {
      const bodies = eventBodies([run.event])
      return commitTogether(db, () => {
        const there = metaOf(run.meta)
        if (there === undefined) insert(run, bodies)
        const { parent_token } = run
        if (parent_token !== undefined) addToken.run(requireRunNumber(numberOf(run.meta), run.meta), parent_token)
        return { created: there === undefined, meta: there ?? run.meta }
      })
    },
    meta: async (run) => metaOf(run),
    parentTokens: async (key) => {
      const run = numberOf(key)
      return run === undefined ? [] : tokens.all(run).map(({ token }) => token)
    },
  }
}

/** META of a run, as it was written. */
function metaReader(db: DatabaseSync): (run: RunKey) => Meta | undefined {
  const find = query<{ readonly body: string }>(
    db,
    'SELECT m.body FROM runs r JOIN metas m USING (run) WHERE r.tenant = ? AND r.run_id = ?',
  )
  return ({ tenant, run_id }) => {
    const found = find.one(tenant, run_id)
    return found === undefined ? undefined : JSON.parse(found.body)
  }
}

function insertRun(db: DatabaseSync): (run: NewRun, bodies: readonly string[]) => void {
  const writer = headWriter(db)
  const head = db.prepare(
    `INSERT INTO runs (tenant, run_id, dag_name, created_at, state, seq, running, running_count, deadline_at, check_at,
      stopped, queued, cap_tokens, cap_usd_micros, unpriced_tokens, stored_bytes)
     VALUES (?, ?, ?, ?, 'running', 0, ',', 0, ?, ?, 0, ?, ?, ?, 0, ?)`,
  )
  const meta = db.prepare('INSERT INTO metas (run, body) VALUES (?, ?)')
  const context = db.prepare('INSERT INTO contexts (run, version, body) VALUES (?, 0, ?)')
  return (run, bodies) => {
    const { tenant, run_id, dag_name, created_at } = run.meta
    const { cap_tokens = null, cap_usd_micros = null } = run.caps ?? {}
    const rest = [run.queued === true ? 1 : 0, cap_tokens, cap_usd_micros, run.stored_bytes ?? 0]
    const made = head.run(tenant, run_id, dag_name, created_at, run.deadline_at, run.check_at, ...rest)
    const number = Number(made.lastInsertRowid)
    meta.run(number, JSON.stringify(run.meta))
    context.run(number, JSON.stringify(run.context))
    writer.write(number, 0, { lane: 'run', ordinal: STARTED, at: created_at, outbox: run.outbox }, bodies)
  }
}

/** HEAD as readers see it, and the outbox's other end. */
export function headsOn(db: DatabaseSync): Pick<RunStore, 'head' | 'settleOutbox' | 'moveEntry' | 'moveCheck'> {
  const read = headReader(db)
  const settle = db.prepare(
    'DELETE FROM outbox WHERE run = (SELECT run FROM runs WHERE tenant = ? AND run_id = ?) AND id = ?',
  )
  const entry = 'WHERE run = (SELECT run FROM runs WHERE tenant = ? AND run_id = ?) AND id = ? AND body = ?'
  const change = db.prepare(`UPDATE outbox SET at = ?, body = ? ${entry}`)
  const remove = db.prepare(`DELETE FROM outbox ${entry}`)
  const move = db.prepare(
    'UPDATE runs SET check_at = ? WHERE tenant = ? AND run_id = ? AND check_at = ? AND seq = coalesce(?, seq)',
  )
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
    moveCheck: ({ tenant, run_id }, was, to, seq) =>
      commitTogether(db, () => {
        move.run(to ?? null, tenant, run_id, was, seq ?? null)
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
function headReader(db: DatabaseSync): (run: RunKey, lanes?: readonly string[]) => Head | undefined {
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

/** META and HEAD of a run, or which of them cannot be read: both are written with the run's row, in one transaction. */
export function summaryReader(db: DatabaseSync) {
  const metaOf = metaReader(db)
  const headOf = headReader(db)
  return (run: RunKey): RunSummary | Damaged<DamagedRun['item']> => {
    const meta = readOrNameDamage(run, 'META', () => metaOf(run))
    if ('damaged' in meta) return meta
    const head = readOrNameDamage(run, 'HEAD', () => headOf(run))
    return 'damaged' in head ? head : { summary: { ...meta.value, head: head.value } }
  }
}

interface RunSummary {
  readonly summary: Meta & { readonly head: Head }
}

interface Damaged<Item> {
  readonly damaged: { readonly run_id: string; readonly item: Item; readonly seen: string }
}

/** What is read, or what of the run is damaged. */
export function readOrNameDamage<T, const Item extends string>(
  { run_id }: RunKey,
  item: Item,
  read: () => T | undefined,
): { readonly value: T } | Damaged<Item> {
  try {
    const value = read()
    if (value !== undefined) return { value }
    return { damaged: { run_id, item, seen: 'it is missing' } }
  } catch (error) {
    // A disk that does not answer is no damage of this run: everything would be.
    if (error instanceof Fault && error.name !== 'Bug') throw error
    return { damaged: { run_id, item, seen: error instanceof Error ? error.message : String(error) } }
  }
}
