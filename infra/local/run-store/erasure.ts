import type { DatabaseSync } from 'node:sqlite'
import {
  type Erasure,
  type RunMark,
  type RunMarks,
  runErasedFault,
  type SaidWhy,
} from '../../../shared/runs/erasure.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { allCommitted, commitTogether, transaction } from '../database.ts'
import { forgetRuns, liveRunsOf } from './live-runs.ts'
import { query, runNumberLookup } from './query.ts'
import { SPAN } from './schema.ts'

interface MarkRow {
  readonly hold: string | null
  readonly erasure: string | null
  readonly check_at: string | null
}

/** What stands beside runs and outlives them: holds, and the records of erasures. */
export function marksOn(db: DatabaseSync): RunMarks {
  const find = markReader(db)
  const begin = db.prepare(
    `INSERT INTO run_marks (tenant, run_id, erasure, check_at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET erasure = excluded.erasure, check_at = excluded.check_at`,
  )
  const move = db.prepare(
    `UPDATE run_marks SET erasure = ?1, check_at = ?2
     WHERE tenant = ?3 AND run_id = ?4 AND erasure ->> '$.version' = ?5 - 1`,
  )
  const look = db.prepare('UPDATE run_marks SET check_at = ? WHERE tenant = ? AND run_id = ? AND check_at = ?')
  return {
    mark: async (run) => find(run),
    ...holdsOn(db),
    ...bodiesOn(db),
    beginErasure: (run, erasure, check_at) =>
      commitTogether(db, () => {
        const there = find(run)
        if (there?.erasure !== undefined) return there.erasure
        if (there?.hold !== undefined) return 'held'
        begin.run(run.tenant, run.run_id, JSON.stringify(erasure), check_at ?? null)
        return erasure
      }),
    moveErasure: (run, to, check_at) =>
      commitTogether(
        db,
        () => move.run(JSON.stringify(to), check_at ?? null, run.tenant, run.run_id, to.version).changes > 0,
      ),
    moveMark: (run, was, to) => commitTogether(db, () => void look.run(to, run.tenant, run.run_id, was)),
  }
}

function markReader(db: DatabaseSync): (run: RunKey) => RunMark | undefined {
  const find = query<MarkRow>(db, 'SELECT hold, erasure, check_at FROM run_marks WHERE tenant = ? AND run_id = ?')
  return ({ tenant, run_id }) => {
    const row = find.one(tenant, run_id)
    if (row === undefined || (row.hold === null && row.erasure === null)) return undefined
    const { hold, erasure, check_at } = row
    return {
      ...(hold === null ? {} : { hold: JSON.parse(hold) as SaidWhy }),
      ...(erasure === null ? {} : { erasure: JSON.parse(erasure) as Erasure }),
      ...(check_at === null ? {} : { check_at }),
    }
  }
}

function holdsOn(db: DatabaseSync): Pick<RunMarks, 'holdRun' | 'releaseRun'> {
  const find = markReader(db)
  const numberOf = runNumberLookup(db)
  const hold = db.prepare(
    `INSERT INTO run_marks (tenant, run_id, hold, check_at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET hold = excluded.hold, check_at = excluded.check_at`,
  )
  const release = db.prepare('DELETE FROM run_marks WHERE tenant = ? AND run_id = ? AND hold IS NOT NULL')
  return {
    holdRun: (run, said, check_at) =>
      commitTogether(db, () => {
        const there = find(run)
        if (there?.erasure !== undefined) return 'erasing'
        if (numberOf(run) === undefined) return 'unknown_run'
        if (there?.hold === undefined) hold.run(run.tenant, run.run_id, JSON.stringify(said), check_at)
        return 'held'
      }),
    releaseRun: ({ tenant, run_id }) => commitTogether(db, () => release.run(tenant, run_id).changes > 0),
  }
}

/** The hashes of bodies that are to go, and all rows of a run. */
function bodiesOn(
  db: DatabaseSync,
): Pick<RunMarks, 'erasing' | 'keepErasing' | 'spareBodies' | 'eraseItems' | 'dropCached' | 'sweepOut'> {
  const hashes = query<{ readonly sha256: string; readonly spared: number }>(
    db,
    'SELECT sha256, spared FROM erasing_bodies WHERE tenant = ? AND run_id = ? ORDER BY sha256',
  )
  const clear = db.prepare('DELETE FROM erasing_bodies WHERE tenant = ? AND run_id = ?')
  const add = db.prepare('INSERT OR IGNORE INTO erasing_bodies (tenant, run_id, sha256) VALUES (?, ?, ?)')
  const spare = db.prepare('UPDATE erasing_bodies SET spared = 1 WHERE tenant = ? AND run_id = ? AND sha256 = ?')
  const cached = db.prepare(
    `DELETE FROM cached_results WHERE tenant = ? AND block_hash = ? AND inputs_hash = ? AND json_valid(body) AND body ->> '$.run_id' = ?`,
  )
  const erase = rowsEraser(db)
  return {
    erasing: async ({ tenant, run_id }) => {
      const all = hashes.all(tenant, run_id)
      const of = (spared: number) => all.flatMap((row) => (row.spared === spared ? [row.sha256] : []))
      return { bodies: of(0), spared: of(1) }
    },
    keepErasing: ({ tenant, run_id }, all) =>
      commitTogether(db, () => {
        for (const hash of all) add.run(tenant, run_id, hash)
      }),
    spareBodies: ({ tenant, run_id }, all) =>
      commitTogether(db, () => {
        for (const hash of all) spare.run(tenant, run_id, hash)
      }),
    async eraseItems(run) {
      // What was decided of any run is in the file then, and nobody's number changes under it.
      await allCommitted(db)
      transaction(db, () => erase(run))
      forgetRuns(db)
    },
    dropCached: ({ tenant, run_id }, block_hash, inputs_hash) =>
      commitTogether(db, () => void cached.run(tenant, block_hash, inputs_hash, run_id)),
    async sweepOut({ tenant, run_id }) {
      await commitTogether(db, () => void clear.run(tenant, run_id))
      await allCommitted(db)
      vacuum(db)
    },
  }
}

/** Every row of a run, in whatever table: those that have its number, and those that have its id. */
function rowsEraser(db: DatabaseSync): (run: RunKey) => void {
  const live = liveRunsOf(db)
  const numberOf = runNumberLookup(db)
  const events = db.prepare(`DELETE FROM events WHERE id > ?1 * ${SPAN} AND id < (?1 + 1) * ${SPAN}`)
  const dead = db.prepare(
    "DELETE FROM dead_webhooks WHERE tenant = ? AND CASE WHEN json_valid(body) THEN body ->> '$.run_id' END = ?",
  )
  return (run) => {
    live.write()
    const number = numberOf(run)
    if (number !== undefined) {
      events.run(number)
      for (const table of tablesWith(db, 'run')) db.prepare(`DELETE FROM ${table} WHERE run = ?`).run(number)
    }
    dead.run(run.tenant, run.run_id)
    for (const table of tablesWith(db, 'run_id')) {
      if (KEPT.has(table)) continue
      db.prepare(`DELETE FROM ${table} WHERE tenant = ? AND run_id = ?`).run(run.tenant, run.run_id)
    }
    eraseExecution(db, run)
  }
}

/** What stays: the mark itself, what is still to go, and ids of runs by their lineage, which have nothing else. */
const KEPT: ReadonlySet<string> = new Set(['run_marks', 'erasing_bodies', 'lineages', 'goal_attempts'])

/** Tables that have a column of this name, so that a new one is not forgotten here. */
export function tablesWith(db: DatabaseSync, column: string): readonly string[] {
  const tables = query<{ readonly name: string }>(
    db,
    `SELECT t.name FROM sqlite_master t JOIN pragma_table_info(t.name) c ON c.name = ? WHERE t.type = 'table'`,
  )
  return tables.all(column).map(({ name }) => name)
}

/** What the machine noted of its execution, once it is over: its input has ids alone, its end may have words. */
function eraseExecution(db: DatabaseSync, { tenant, run_id }: RunKey): void {
  if (!tablesWith(db, 'machine').includes('machine_executions')) return
  const of =
    "(SELECT id FROM machine_executions WHERE name = ?1 AND CASE WHEN json_valid(input) THEN input ->> '$.tenant' END = ?2)"
  for (const table of ['machine_steps', 'machine_tokens']) {
    db.prepare(`DELETE FROM ${table} WHERE execution IN ${of}`).run(run_id, tenant)
  }
  db.prepare(
    "DELETE FROM machine_executions WHERE name = ?1 AND CASE WHEN json_valid(input) THEN input ->> '$.tenant' END = ?2",
  ).run(run_id, tenant)
}

/**
 * Writes the file anew, without what was removed from it, and empties the WAL: what SQLite only marks as free is readable
 * until it is written over. A reader in between, or a disk without room for a second file, is an error: the erasure is tried again.
 */
function vacuum(db: DatabaseSync): void {
  db.exec('PRAGMA secure_delete = ON')
  db.exec('VACUUM')
  db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
  db.exec('PRAGMA secure_delete = OFF')
}

/** A run of this id was erased: none is made again under it. */
export function erasedBefore(db: DatabaseSync): (run: RunKey) => void {
  const find = markReader(db)
  return (run) => {
    const erasure = find(run)?.erasure
    if (erasure !== undefined) throw runErasedFault(run, erasure)
  }
}
