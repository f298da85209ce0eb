import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import about from '../../../package.json' with { type: 'json' }
import { Fault } from '../../../shared/errors.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { checkFile, filesToCheck } from '../documents/document-files.ts'
import { readFileIfAny } from '../terminal/files.ts'
import { count, sizeWords } from '../terminal/format.ts'
import { Refused } from '../terminal/refused.ts'
import { type Check, check } from './doctor-check.ts'

/** What can be checked without asking anybody: the installation, sluice.yaml and the folders it names. */
export function checkLocally(): { readonly here: readonly Check[]; readonly settings: Settings | undefined } {
  const [settingsCheck, settings] = settingsCheckHere()
  return { here: [...installationChecks(), settingsCheck, ...folderChecks(settings)], settings }
}

/** Node, the packages Sluice needs, and the console: what an install brings. */
function installationChecks(): readonly Check[] {
  return [nodeCheck(), packagesCheck(), consoleCheck()]
}

/** node:sqlite with FTS5 and no warning. */
const NODE = 24

function nodeCheck(): Check {
  const major = Number(/^v(\d+)\./.exec(process.version)?.[1])
  if (major >= NODE) return check.ok('node', process.version)
  const fix = `use Node ${NODE} or later; \`npm ci\` in the clone brings one`
  return check.failed('node', `${process.version} is too old`, fix)
}

function packagesCheck(): Check {
  const wanted = Object.entries(about.dependencies)
  const found = wanted.map(([name, version]) => ({ name, version, installed: installedVersion(name) }))
  const missing = found.filter(({ installed }) => installed === undefined).map(({ name }) => name)
  const fix = `run \`npm ci --ignore-scripts\` in ${fileURLToPath(new URL('../../..', import.meta.url))}`
  if (missing.length > 0) return check.failed('packages', `not installed: ${missing.join(', ')}`, fix)
  const other = found.filter(({ version, installed }) => installed !== version)
  if (other.length === 0) return check.ok('packages', `${found.length} installed, as pinned`)
  const words = other.map(({ name, version, installed }) => `${name} ${installed} instead of ${version}`)
  return check.warning('packages', words.join(', '), fix)
}

const require = createRequire(import.meta.url)

/** A hoisted install has it further up. */
function installedVersion(name: string): string | undefined {
  const folders = require.resolve.paths(name) ?? []
  const file = folders.map((folder) => join(folder, name, 'package.json')).find((one) => existsSync(one))
  return file === undefined ? undefined : String(JSON.parse(readFileSync(file, 'utf8')).version)
}

function consoleCheck(): Check {
  const built = existsSync(fileURLToPath(new URL('../../../dist/console/index.html', import.meta.url)))
  if (built) return check.ok('console', 'built')
  return check.warning('console', 'not built: the server shows no console', '`npm run build` in the folder of Sluice')
}

/** Whether sluice.yaml can be used, and what it says; undefined where it cannot. */
function settingsCheckHere(): readonly [Check, Settings | undefined] {
  try {
    const text = readFileIfAny('sluice.yaml', 'settings')
    const settings = parseSettings(text ?? '', 'sluice.yaml')
    return [
      check.ok('settings', text === undefined ? 'no sluice.yaml here: all defaults' : 'sluice.yaml is good'),
      settings,
    ]
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return [
      check.failed('settings', error.message, 'mend sluice.yaml; `sluice validate` tells the same with places'),
      undefined,
    ]
  }
}

/** The data folder, the inputs folder and the documents here. Unknown settings: there is nothing to look for. */
function folderChecks(settings: Settings | undefined): readonly Check[] {
  if (settings === undefined) return []
  return [
    dataCheck(settings.data_dir),
    ...storeChecks(settings.data_dir),
    inputsCheck(settings.inputs_dir),
    documentsCheck(),
  ]
}

/** Below it the next run may end for want of room. */
const LEAST_FREE = 200 * 1_048_576

function dataCheck(dataDir: string): Check {
  const name = 'data folder'
  const there = existsSync(dataDir)
  if (there && !statSync(dataDir).isDirectory())
    return check.failed(name, `${dataDir} is a file`, 'move it away, or name another folder with data_dir')
  // What is not there yet is made by the first run, in the nearest folder above it that is.
  const where = there ? dataDir : nearestFolder(resolve(dataDir))
  if (!isWritable(where))
    return check.failed(
      name,
      `${where} cannot be written to`,
      'change its owner or mode, or name another with data_dir',
    )
  const { bavail, bsize } = statfsSync(where)
  const free = sizeWords(bavail * bsize)
  if (bavail * bsize < LEAST_FREE) return check.warning(name, `only ${free} free on its disk`, 'make room')
  const holder = holderOf(dataDir)
  const used = holder === undefined ? 'nobody uses it' : `process ${holder} uses it`
  return check.ok(name, there ? `${dataDir} is writable, ${used}, ${free} free` : `${dataDir} is made by the first run`)
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The place names itself beside its lock; the lock itself goes away with the process. */
function holderOf(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, 'lock.pid'), 'utf8'))
    process.kill(pid, 0)
    return pid
  } catch {
    return undefined
  }
}

function inputsCheck(inputsDir: string): Check {
  if (existsSync(inputsDir)) return check.ok('inputs', `${inputsDir} is there: runs may read files from it`)
  return check.skipped('inputs', `there is no ${inputsDir}: runs can read no file`)
}

function documentsCheck(): Check {
  const files = filesToCheck().filter((file) => !file.endsWith('sluice.yaml'))
  if (files.length === 0) return check.skipped('documents', 'none here; `sluice init` writes one')
  const wrong = files.filter((file) => !isValid(file))
  if (wrong.length === 0) return check.ok('documents', `${count(files.length, 'document')}, all valid`)
  return check.failed('documents', `with errors: ${wrong.join(', ')}`, '`sluice validate` tells each with its place')
}

function isValid(file: string): boolean {
  try {
    return checkFile(file).valid
  } catch (error) {
    if (error instanceof Refused) return false
    throw error
  }
}

/** Whether what the data folder holds is still what was written: the database, its rows, and a sample of objects. */
export function storeChecks(dataDir: string): readonly Check[] {
  const file = join(dataDir, 'sluice.db')
  if (!existsSync(file)) return []
  return [databaseCheck(file, dataDir), objectsCheck(join(dataDir, 'objects'), file)]
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
  ['runs', 'resting', RUN],
  ['runs', 'paused', RUN],
  ['lanes', 'body', RUN],
  ['events', 'body', runOf(`t.id / ${2 ** 24}`)],
  ['outbox', 'body', RUN],
  ['approvals', 'head', RUN],
  ['approvals', 'item', RUN],
  ['approval_messages', 'body', RUN],
  ['head_maps', 'body', RUN],
  ['run_facts', 'birth', RUN],
  ['run_facts', 'labels', RUN],
  ['run_facts', 'ended', RUN],
  ['run_notes', 'body', RUN],
  ['contexts', 'body', RUN],
  ['artifacts', 'body', RUN],
  ['cached_results', 'body', TENANT],
  ['start_holds', 'body', TENANT],
  ['lineages', 'body', "'run ' || t.run_id"],
  ['goal_attempts', 'body', "'run ' || t.run_id"],
  ['dead_webhooks', 'body', TENANT],
  ['run_marks', 'hold', "'run ' || t.run_id"],
  ['run_marks', 'erasure', "'run ' || t.run_id"],
  ['saved_views', 'body', "'view ' || t.name"],
  ['bulks', 'body', "'bulk ' || t.bulk_id"],
  ['bulk_runs', 'outcome', "'bulk ' || t.bulk_id"],
  ['tokens', 'body', "'token ' || t.id"],
  ['tokens', 'revoked', "'token ' || t.id"],
  ['machine_definitions', 'definition', "'machine ' || t.hash"],
  ['machine_executions', 'input', "'run ' || t.name"],
  ['machine_executions', 'end', "'run ' || t.name"],
  ['machine_steps', 'place', EXECUTION],
  ['machine_tokens', 'answer', EXECUTION],
  ['kept_events', 'body', TENANT],
  ['event_waits', 'body', TENANT],
  ['callbacks', 'body', "'run ' || t.run_id"],
  ['spending_raises', 'body', "'spending cap ' || t.cap"],
  ['trigger_states', 'body', "'trigger ' || t.document || '/' || t.name"],
  ['firings', 'body', "'trigger ' || t.document || '/' || t.name"],
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

/** So many of each kind are read: a folder of millions must not keep anybody waiting. */
const SAMPLE = 200

interface Kept {
  readonly hash: string
  readonly where: string
  readonly body: () => Uint8Array
}

interface Sample {
  readonly all: number
  readonly looked: readonly Kept[]
}

/** Those of up to 16 KiB are in the database, the others files. */
function objectsCheck(folder: string, database: string): Check {
  const name = 'objects'
  const [files, rows] = [objectFiles(folder), objectRows(database)]
  const all = files.all + rows.all
  if (all === 0) return check.skipped(name, 'none yet')
  const sample = [...files.looked, ...rows.looked]
  const wrong = sample.filter(({ hash, body }) => sha256(body()) !== hash)
  const looked = `${sample.length} of ${count(all, 'object')} looked at`
  if (wrong.length === 0) return check.ok(name, `${looked}, each is what its name says`)
  const names = wrong.slice(0, 5).map(({ where }) => where)
  const fix = 'restore these from a copy; a run that writes the same content mends it too'
  return check.failed(name, `${looked}, ${wrong.length} damaged: ${names.join(', ')}`, fix)
}

function objectFiles(folder: string): Sample {
  if (!existsSync(folder)) return { all: 0, looked: [] }
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map((entry) => ({ hash: entry.name, where: join(entry.parentPath, entry.name) }))
  const step = Math.max(1, Math.floor(files.length / SAMPLE))
  const sample = files.filter((_, at) => at % step === 0).slice(0, SAMPLE)
  return { all: files.length, looked: sample.map((one) => ({ ...one, body: () => readFileSync(one.where) })) }
}

/** None of a database that cannot be read, or is of an earlier version: what is wrong with it is told of itself. */
function objectRows(file: string): Sample {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 200 })
    const [short, long] = [rowsOf(db, 'objects', 'objects'), rowsOf(db, 'long_objects', LONG)]
    return { all: short.all + long.all, looked: [...short.looked, ...long.looked] }
  } catch {
    return { all: 0, looked: [] }
  } finally {
    db?.close()
  }
}

const LONG = 'long_objects LEFT JOIN long_bodies USING (place)'

function rowsOf(db: DatabaseSync, table: string, withBodies: string): Sample {
  const all = Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n)
  const step = Math.max(1, Math.floor(all / SAMPLE))
  const rows = db.prepare(
    `SELECT tenant, lower(hex(sha256)) AS hash, CAST(body AS BLOB) AS body FROM ${withBodies}
     WHERE (tenant, sha256) IN
       (SELECT tenant, sha256 FROM (SELECT tenant, sha256, row_number() OVER () AS at FROM ${table}) WHERE at % ? = 0)
     LIMIT ${SAMPLE}`,
  )
  return { all, looked: rows.all(step).map(rowOf) }
}

function rowOf({ tenant, hash, body }: Readonly<Record<string, SQLOutputValue>>): Kept {
  return {
    hash: String(hash),
    where: `objstore://${tenant}/${hash}`,
    body: () => (body instanceof Uint8Array ? body : new Uint8Array()),
  }
}
