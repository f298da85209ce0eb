import type { DatabaseSync } from 'node:sqlite'
import { ordinal, PHASE } from '../../../shared/runs/ordinal.ts'
import type { Meta, NewRun, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { eventBodies } from './event-bodies.ts'
import { headWriter } from './head-writer.ts'
import { query, runNumbers } from './query.ts'
import { requireRun } from './require-run.ts'

/** run:started is the first step of the run's own lane. */
const STARTED = ordinal({ epoch: 0, attempt: 0, phase: PHASE.claimed })

/** Creates a run once: HEAD, META, CTX and run:started together. */
export function runsOf(db: DatabaseSync): Pick<RunStore, 'create' | 'meta' | 'parentTokens'> {
  const metaOf = metaReader(db)
  const insert = insertRun(db)
  const numberOf = runNumbers(db)
  const addToken = db.prepare('INSERT OR IGNORE INTO parent_tokens (run, token) VALUES (?, ?)')
  const tokens = query<{ readonly token: string }>(db, 'SELECT token FROM parent_tokens WHERE run = ? ORDER BY token')
  return {
    create: async (run) => {
      const bodies = eventBodies([run.event])
      return commitTogether(db, () => {
        const there = metaOf(run.meta)
        if (there === undefined) insert(run, bodies)
        const { parent_token } = run
        if (parent_token !== undefined) addToken.run(requireRun(numberOf(run.meta), run.meta), parent_token)
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
export function metaReader(db: DatabaseSync): (run: RunKey) => Meta | undefined {
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
