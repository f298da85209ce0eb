import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sha256 } from '../../shared/canonical.ts'
import { type Check, check } from './check.ts'
import { count } from './words.ts'

/** Whether what the data folder holds is still what was written: the database, its rows, and a sample of objects. */
export function storeChecks(dataDir: string): readonly Check[] {
  const file = join(dataDir, 'sluice.db')
  if (!existsSync(file)) return []
  return [databaseCheck(file, dataDir), objectsCheck(join(dataDir, 'objects'))]
}

const SAVE =
  'stop the place and copy the folder first; then restore an older copy, or save what can be read: ' +
  '`sqlite3 sluice.db .recover | sqlite3 saved.db`, and `sluice run export RUN` of each run that still opens'

const runOf = (run: string) => `'run ' || coalesce((SELECT r.run_id FROM runs r WHERE r.run = ${run}), '?')`
const RUN = runOf('t.run')
const EXECUTION = "'run ' || coalesce((SELECT e.name FROM machine_executions e WHERE e.id = t.execution), '?')"
const TENANT = "'tenant ' || t.tenant"

/** Every column that holds JSON, in whatever table of the file, and SQL that says whose it is. */
export const JSON_COLUMNS: readonly (readonly [table: string, column: string, whose: string])[] = [
  ['metas', 'body', RUN],
  ['lanes', 'body', RUN],
  ['events', 'body', runOf(`t.id / ${2 ** 24}`)],
  ['outbox', 'body', RUN],
  ['approvals', 'head', RUN],
  ['approvals', 'item', RUN],
  ['approval_messages', 'body', RUN],
  ['head_maps', 'body', RUN],
  ['contexts', 'body', RUN],
  ['artifacts', 'body', RUN],
  ['cached_results', 'body', TENANT],
  ['start_holds', 'body', TENANT],
  ['lineages', 'body', "'run ' || t.run_id"],
  ['goal_attempts', 'body', "'run ' || t.run_id"],
  ['dead_webhooks', 'body', TENANT],
  ['tokens', 'body', "'token ' || t.id"],
  ['tokens', 'revoked', "'token ' || t.id"],
  ['machine_definitions', 'definition', "'machine ' || t.hash"],
  ['machine_executions', 'input', "'run ' || t.name"],
  ['machine_executions', 'end', "'run ' || t.name"],
  ['machine_steps', 'place', EXECUTION],
  ['machine_tokens', 'answer', EXECUTION],
  ['graph_entities', 'body', "'entity ' || t.entity_id"],
  ['graph_changes', 'entity_ids', TENANT],
]

function databaseCheck(file: string, dataDir: string): Check {
  const name = 'database'
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 200 })
    const found = db
      .prepare('PRAGMA quick_check(5)')
      .all()
      .map(({ quick_check }) => String(quick_check))
    const broken = found.filter((line) => line !== 'ok')
    if (broken.length > 0) return check.failed(name, `SQLite finds ${file} damaged: ${broken.join('; ')}`, SAVE)
    const rows = unreadableRows(db)
    if (rows.length > 0) return check.failed(name, `rows that cannot be read: ${rows.join(', ')}`, SAVE)
    return check.ok(name, 'SQLite finds it whole, and every row that holds JSON can be read')
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error)
    if (/locked|busy/i.test(seen)) return check.skipped(name, `a place holds ${dataDir}: stop it to have it checked`)
    return check.failed(name, `${file} cannot be read: ${seen}`, SAVE)
  } finally {
    db?.close()
  }
}

/** At most five of each column: enough to know what to do. */
function unreadableRows(db: DatabaseSync): readonly string[] {
  const tables = new Set(
    db
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
      .all()
      .map(({ name }) => name),
  )
  const garbled = JSON_COLUMNS.filter(([table]) => tables.has(table)).flatMap(([table, column, whose]) =>
    wordsOf(
      db,
      `${table}.${column}`,
      `SELECT DISTINCT ${whose} AS whose FROM ${table} t WHERE NOT json_valid(t."${column}")`,
    ),
  )
  if (!tables.has('runs')) return garbled
  const alone =
    "SELECT 'run ' || t.run_id AS whose FROM runs t WHERE NOT EXISTS (SELECT 1 FROM metas m WHERE m.run = t.run)"
  return [...garbled, ...wordsOf(db, 'the missing row of metas', alone)]
}

function wordsOf(db: DatabaseSync, what: string, sql: string): readonly string[] {
  return db
    .prepare(`${sql} LIMIT 5`)
    .all()
    .map(({ whose }) => `${what} of ${whose}`)
}

/** So many are read: a folder of millions must not keep anybody waiting. */
const SAMPLE = 200

function objectsCheck(folder: string): Check {
  const name = 'objects'
  if (!existsSync(folder)) return check.skipped(name, 'none yet')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map((entry) => ({ hash: entry.name, path: join(entry.parentPath, entry.name) }))
  const step = Math.max(1, Math.floor(files.length / SAMPLE))
  const sample = files.filter((_, at) => at % step === 0).slice(0, SAMPLE)
  const wrong = sample.filter(({ hash, path }) => sha256(readFileSync(path)) !== hash)
  const looked = `${sample.length} of ${count(files.length, 'object')} looked at`
  if (wrong.length === 0) return check.ok(name, `${looked}, each is what its name says`)
  const names = wrong.slice(0, 5).map(({ path }) => path)
  const fix = 'restore these files from a copy; a run that writes the same content mends it too'
  return check.failed(name, `${looked}, ${wrong.length} damaged: ${names.join(', ')}`, fix)
}
