import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import { CHAIN_START } from '../../../shared/runs/hash-chain.ts'
import { SCHEMA_VERSION } from '../database.ts'

/** Columns that tables of earlier files lack: CREATE TABLE IF NOT EXISTS leaves a table as it is. */
const LATER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  runs: {
    queued: 'INTEGER NOT NULL DEFAULT 0',
    resting: 'TEXT',
    paused: 'TEXT',
    cap_tokens: 'INTEGER',
    cap_usd_micros: 'INTEGER',
    committed_tokens: 'INTEGER NOT NULL DEFAULT 0',
    committed_usd_micros: 'INTEGER NOT NULL DEFAULT 0',
    spent_tokens: 'INTEGER NOT NULL DEFAULT 0',
    spent_usd_micros: 'INTEGER NOT NULL DEFAULT 0',
    unpriced_tokens: 'INTEGER',
    stored_bytes: 'INTEGER',
    sealed_seq: 'INTEGER NOT NULL DEFAULT 0',
    sealed_hash: `TEXT NOT NULL DEFAULT '${CHAIN_START}'`,
  },
  /** When it was decided, expired, or its run or block ended. */
  approvals: { closed_at: 'TEXT' },
}

/** As a new table is made with them. */
const laterOf = (table: string) =>
  Object.entries(LATER[table] ?? {})
    .map((column) => column.join(' '))
    .join(', ')

/**
 * A run is an integer in here, so that rows stay short; outside it is always (tenant, run_id). One row a lane and one
 * an event: an append touches the run's row, its lane and its events whatever the size of the DAG. An event's id packs
 * (run, seq), which keeps a run's events together and lets SQLite append at the end of its page. A block's lane and its
 * projection (from `projected` on) share a row: every page a commit touches costs about 7 microseconds. `head_maps` has
 * what few runs have: bounce modules, children, and an `items` row for each foreach block whose items are open; item
 * lanes are lanes `<block>.<i>`; a `labels` row where somebody changed them. `run_facts` and `run_terms` are what runs are
 * found by (docs/adr/0097). What `runs` and `approvals` were first made without, the ledger, the closed hash chain and
 * the inbox, `addColumns` adds to an older file. The three views carry the names that other systems use, for people who
 * look into the file; nothing in Sluice reads them.
 */
export const SCHEMA = `
CREATE TABLE IF NOT EXISTS runs (
  run INTEGER PRIMARY KEY, tenant TEXT NOT NULL, run_id TEXT NOT NULL, dag_name TEXT NOT NULL, created_at TEXT NOT NULL,
  state TEXT NOT NULL, seq INTEGER NOT NULL, running TEXT NOT NULL, running_count INTEGER NOT NULL,
  deadline_at TEXT NOT NULL, check_at TEXT, stopped INTEGER NOT NULL, ${laterOf('runs')},
  UNIQUE (tenant, run_id));
CREATE INDEX IF NOT EXISTS runs_newest ON runs (tenant, created_at, run_id);
CREATE INDEX IF NOT EXISTS runs_due ON runs (check_at) WHERE check_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS metas (run INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS lanes (
  run INTEGER NOT NULL, lane TEXT NOT NULL, ordinal INTEGER, projected INTEGER, state TEXT, holder TEXT,
  lease_until TEXT, body TEXT, PRIMARY KEY (run, lane)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY, event_id TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outbox (
  run INTEGER NOT NULL, id TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS approvals (
  run INTEGER NOT NULL, id TEXT NOT NULL, status TEXT, head TEXT, item TEXT, ${laterOf('approvals')},
  PRIMARY KEY (run, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS approval_tokens (
  run INTEGER NOT NULL, id TEXT NOT NULL, token TEXT NOT NULL, PRIMARY KEY (run, id, token)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS approval_messages (
  run INTEGER NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS join_waits (
  run INTEGER NOT NULL, key TEXT NOT NULL, token TEXT NOT NULL, need INTEGER NOT NULL,
  PRIMARY KEY (run, key, token)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS join_done (
  run INTEGER NOT NULL, key TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (run, key, source)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS head_maps (
  run INTEGER NOT NULL, map TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (run, map, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS parent_tokens (
  run INTEGER NOT NULL, token TEXT NOT NULL, PRIMARY KEY (run, token)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cached_results (
  tenant TEXT NOT NULL, block_hash TEXT NOT NULL, inputs_hash TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (tenant, block_hash, inputs_hash)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS contexts (run INTEGER PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS artifacts (
  run INTEGER NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stops (
  run INTEGER NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (run, block)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leases (
  tenant TEXT NOT NULL, pool TEXT NOT NULL, holder TEXT NOT NULL, until TEXT NOT NULL,
  PRIMARY KEY (tenant, pool, holder)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS key_queues (
  tenant TEXT NOT NULL, queue TEXT NOT NULL, body TEXT NOT NULL, version TEXT NOT NULL,
  PRIMARY KEY (tenant, queue)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS queued_runs (
  tenant TEXT NOT NULL, at TEXT NOT NULL, run_id TEXT NOT NULL, PRIMARY KEY (tenant, at, run_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS start_holds (
  tenant TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (tenant)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS request_counts (
  tenant TEXT NOT NULL, caller TEXT NOT NULL, window TEXT NOT NULL, counted INTEGER NOT NULL, ttl INTEGER NOT NULL,
  PRIMARY KEY (tenant, caller, window)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stored_by_week (
  tenant TEXT NOT NULL, week TEXT NOT NULL, bytes INTEGER NOT NULL, ttl INTEGER NOT NULL,
  PRIMARY KEY (tenant, week)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS noted_requests (
  tenant TEXT NOT NULL, route TEXT NOT NULL, key TEXT NOT NULL, done INTEGER NOT NULL, ttl INTEGER NOT NULL,
  PRIMARY KEY (tenant, route, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS turns (
  tenant TEXT NOT NULL, name TEXT NOT NULL, holder TEXT NOT NULL, until TEXT NOT NULL,
  PRIMARY KEY (tenant, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lineages (
  tenant TEXT NOT NULL, root TEXT NOT NULL, run_id TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (tenant, root, run_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS goal_attempts (
  tenant TEXT NOT NULL, root TEXT NOT NULL, n INTEGER NOT NULL, run_id TEXT NOT NULL, at TEXT NOT NULL,
  body TEXT NOT NULL, PRIMARY KEY (tenant, root, n)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dead_webhooks (
  tenant TEXT NOT NULL, event_at TEXT NOT NULL, id TEXT NOT NULL, buried_at TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (tenant, event_at, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS run_facts (
  run INTEGER PRIMARY KEY, tenant TEXT NOT NULL, place TEXT NOT NULL, birth TEXT NOT NULL, labels TEXT NOT NULL, ended TEXT);
CREATE INDEX IF NOT EXISTS run_facts_newest ON run_facts (tenant, place);
CREATE TABLE IF NOT EXISTS run_terms (
  tenant TEXT NOT NULL, term TEXT NOT NULL, place TEXT NOT NULL, run INTEGER NOT NULL,
  PRIMARY KEY (tenant, term, place)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS run_terms_of ON run_terms (run);
CREATE TABLE IF NOT EXISTS run_notes (
  run INTEGER NOT NULL, at TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, at, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS run_marks (
  tenant TEXT NOT NULL, run_id TEXT NOT NULL, hold TEXT, erasure TEXT, check_at TEXT,
  PRIMARY KEY (tenant, run_id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS run_marks_due ON run_marks (check_at) WHERE check_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS erasing_bodies (
  tenant TEXT NOT NULL, run_id TEXT NOT NULL, sha256 TEXT NOT NULL, spared INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, run_id, sha256)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS saved_views (
  tenant TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (tenant, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS bulks (
  tenant TEXT NOT NULL, bulk_id TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL, check_at TEXT,
  PRIMARY KEY (tenant, bulk_id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS bulks_due ON bulks (check_at) WHERE check_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS bulk_runs (
  tenant TEXT NOT NULL, bulk_id TEXT NOT NULL, n INTEGER NOT NULL, of_run TEXT NOT NULL, outcome TEXT,
  PRIMARY KEY (tenant, bulk_id, n)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cursor_keys (key BLOB NOT NULL);
CREATE VIEW IF NOT EXISTS dag_runs AS
  SELECT r.tenant, r.run_id, r.dag_name, m.body ->> 'dag_hash' AS dag_hash, r.state, r.seq AS last_seq,
    m.body ->> 'starter' AS starter, r.created_at, r.deadline_at, r.check_at
  FROM runs r JOIN metas m USING (run);
CREATE VIEW IF NOT EXISTS dag_events AS
  SELECT r.tenant, r.run_id, e.id - r.run * ${2 ** 24} AS seq, e.event_id AS id, e.body ->> 'type' AS type,
    e.body ->> 'block_id' AS block_id, e.body ->> 'attempt' AS attempt, e.at, e.body -> 'data' AS data
  FROM runs r CROSS JOIN events e ON e.id BETWEEN r.run * ${2 ** 24} + 1 AND r.run * ${2 ** 24} + ${2 ** 24 - 1};
CREATE VIEW IF NOT EXISTS dag_approvals AS
  SELECT r.tenant, r.run_id, a.id AS approval_id, a.item ->> 'block_id' AS block_id, a.status,
    a.item ->> 'prompt' AS prompt, a.item ->> 'digest' AS digest, a.item ->> 'requested_at' AS requested_at,
    a.item ->> 'expires_at' AS expires_at, a.head ->> 'decided_by' AS decided_by,
    a.head ->> 'decided_at' AS decided_at, a.head ->> 'via' AS via
  FROM approvals a JOIN runs r USING (run) WHERE a.status IS NOT NULL;
`

/** Events of run r have ids r * SPAN + 1 .. : 16.7 million events a run, 536 million runs in a JavaScript integer. */
export const SPAN = 2 ** 24

/** What an older row has in a column whose value follows from others. */
const FILLED: Readonly<Record<string, string>> = {
  /** Of what was spent before they were counted nobody knows it. */
  unpriced_tokens: 'UPDATE runs SET unpriced_tokens = 0 WHERE spent_tokens = 0',
  closed_at: `UPDATE approvals SET closed_at = coalesce(CASE WHEN json_valid(head) THEN head ->> 'decided_at' END,
      (SELECT e.at FROM runs r JOIN events e ON e.id = r.run * ${SPAN} + r.seq WHERE r.run = approvals.run))
    WHERE status IS NOT NULL
      AND (status <> 'pending' OR (SELECT state FROM runs r WHERE r.run = approvals.run) <> 'running')`,
}

/** When a question was asked; null where its item is damaged, so that one row keeps no index from being made. */
export const ASKED_AT = "CASE WHEN json_valid(item) THEN item ->> 'requested_at' END"

/** Over columns an older table has only now. `approvals_open` refused the whole table for one damaged item. */
const INDEXES = `
DROP INDEX IF EXISTS approvals_open;
CREATE INDEX IF NOT EXISTS approvals_asked ON approvals (${ASKED_AT}) WHERE closed_at IS NULL;
CREATE INDEX IF NOT EXISTS approvals_closed ON approvals (closed_at) WHERE closed_at IS NOT NULL;`

/**
 * Gives every table the columns it has by now, each with a default that says what an older row means; from then on an
 * older program refuses the file: it would not keep the budgets and the inbox of its runs.
 */
export function addColumns(db: DatabaseSync): void {
  if (!columnsOf(db, 'lanes').has('projected')) throw tooOld()
  for (const [table, columns] of Object.entries(LATER)) {
    const there = columnsOf(db, table)
    for (const [column, type] of Object.entries(columns)) {
      if (there.has(column)) continue
      db.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`)
      db.exec(FILLED[column] ?? '')
    }
  }
  db.exec(INDEXES)
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
}

function columnsOf(db: DatabaseSync, table: string): ReadonlySet<unknown> {
  const rows = db.prepare('SELECT name FROM pragma_table_info(?)').all(table)
  return new Set(rows.map(({ name }) => name))
}

/** Lanes and projections were tables of their own before the first version was given to anybody. */
function tooOld(): Fault {
  const message =
    'Cannot read the data folder: it was made by a program before version 0.1, whose runs this one does not read. Move it away, or choose another data folder.'
  return new Fault('InvalidInput', 'database_older', message)
}
