import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { JSON_COLUMNS, storeChecks } from '../../../clients/cli/place/doctor-local-checks.ts'
import { openPlace, type Place } from '../../../infra/local/place.ts'
import { LIST_APPROVALS } from '../../../shared/api/approval-routes.ts'
import { RUN_ROUTES } from '../../../shared/api/run-routes.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { firstDaily } from '../../how-much.ts'

/** A data folder that somebody damaged, or that is open to others. */
let dir: string
let place: Place | undefined
const open = async () => {
  place = await openPlace(SettingsSchema.parse({ port: 0, data_dir: dir }), { listen: true, sweep_ms: 0 })
  return place
}
const close = async () => {
  await place?.close()
  place = undefined
}
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-damaged-'))
})
afterEach(async () => {
  await close()
  rmSync(dir, { recursive: true, force: true })
})

const DAG = {
  name: 'two',
  blocks: [
    {
      id: 'a',
      mode: 'deterministic',
      outputs: { x: { type: 'number' } },
      deterministic: { handler: 'transform', config: { expression: '1' } },
    },
    // Too large for the database: a file among the objects.
    {
      id: 'long',
      mode: 'deterministic',
      outputs: { text: { type: 'string' } },
      deterministic: { handler: 'transform', config: { expression: '$pad("x", 20000, "x")' } },
    },
  ],
}

const StartedSchema = z.looseObject({ run_id: z.string() })

async function startTwo(at: Pick<Place, 'url'>, dag: object = DAG): Promise<readonly string[]> {
  const ids: string[] = []
  for (let n = 0; n < 2; n += 1) {
    const response = await fetch(`${at.url}/api/dag/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ dag }),
    })
    const json = StartedSchema.parse(await response.json())
    ids.push(json.run_id)
  }
  return ids
}

async function pendingOf({ url }: Pick<Place, 'url'>) {
  const response = await fetch(`${url}/api/dag/approvals`)
  return LIST_APPROVALS.answer.parse(await response.json()).approvals
}

async function stateOf(url: string | undefined, run_id: string): Promise<unknown> {
  const response = await fetch(`${url}/api/dag/runs/${run_id}`)
  return z.looseObject({ run: z.looseObject({ state: z.string() }) }).parse(await response.json()).run.state
}

function damage(sql: string, ...values: readonly string[]): void {
  const db = new DatabaseSync(join(dir, 'sluice.db'))
  db.prepare(sql).run(...values)
  db.close()
}

/** A folder of two runs that have ended, made once; `dir` becomes a copy of it. */
let made: string
let ended: readonly string[]
beforeAll(async () => {
  made = mkdtempSync(join(tmpdir(), 'sluice-damaged-'))
  dir = made
  const opened = await open()
  ended = await startTwo(opened)
  for (const id of ended) await vi.waitFor(async () => expect(await stateOf(opened.url, id)).toBe('completed'), 30_000)
  await close()
})
afterAll(() => rmSync(made, { recursive: true, force: true }))

function twoEnded(): readonly string[] {
  cpSync(made, dir, { recursive: true })
  return ended
}

test.each([
  ['META', "UPDATE metas SET body = '{' WHERE run = (SELECT run FROM runs WHERE run_id = ?)"],
  ['META', 'DELETE FROM metas WHERE run = (SELECT run FROM runs WHERE run_id = ?)'],
  ['HEAD', "INSERT INTO head_maps (run, map, key, body) SELECT run, 'modules', 'm', '{' FROM runs WHERE run_id = ?"],
])('a run whose %s is damaged is named, and the rest is listed', async (item, sql) => {
  const [wrong = '', good = ''] = twoEnded()
  damage(sql, wrong)
  const { url } = await open()
  const response = await fetch(`${url}/api/dag/runs`)
  expect(response.status).toBe(200)
  const { runs, damaged } = RUN_ROUTES['list-runs'].answer.parse(await response.json())
  expect(runs.map(({ run_id }) => run_id)).toEqual([good])
  expect(damaged).toEqual([
    { run_id: wrong, item, seen: expect.any(String), fix: expect.stringContaining('sluice doctor') },
  ])
})

test('doctor finds damaged rows and objects, and leaves a folder in use alone', async () => {
  const [wrong = ''] = twoEnded()
  await open()
  expect(storeChecks(dir)[0]).toMatchObject({ name: 'database', state: 'skipped' })
  await close()
  expect(storeChecks(dir).map(({ name, state }) => [name, state])).toEqual([
    ['database', 'ok'],
    ['objects', 'ok'],
  ])
  damage("UPDATE metas SET body = '{' WHERE run = (SELECT run FROM runs WHERE run_id = ?)", wrong)
  const objects = join(dir, 'objects')
  const files = readdirSync(objects, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const [file] = files
  if (file === undefined) throw new Error('nothing was stored')
  writeFileSync(join(file.parentPath, file.name), 'something else')
  const [database, stored] = storeChecks(dir)
  expect(database).toMatchObject({ state: 'failed', says: `rows that cannot be read: metas.body of run ${wrong}` })
  expect(database?.fix).toContain('.recover')
  expect(stored).toMatchObject({ state: 'failed' })
  expect(stored?.says).toContain(file.name)
  rmSync(join(file.parentPath, file.name))
  expect(storeChecks(dir)[1]).toMatchObject({ state: 'ok' })
  damage("UPDATE long_bodies SET body = x'00' WHERE length(body) > length(?)", 'a long one')
  expect(storeChecks(dir)[1]?.state).toBe('failed')
  damage('DELETE FROM long_objects WHERE tenant = ?', 'main')
  expect(storeChecks(dir)[1]).toMatchObject({ state: 'ok' })
  damage("UPDATE objects SET body = '2' WHERE tenant = ? AND body = CAST('1' AS BLOB)", 'main')
  expect(storeChecks(dir)[1]).toMatchObject({
    state: 'failed',
    says: expect.stringContaining('objstore://main/6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b'),
  })
})

/** Texts that are no JSON, by table: names, times, hashes and states. */
const PLAIN: Readonly<Record<string, string>> = {
  runs: 'tenant run_id dag_name created_at state running deadline_at check_at sealed_hash',
  lanes: 'lane state holder lease_until',
  events: 'event_id at',
  outbox: 'id at',
  approvals: 'id status closed_at',
  approval_tokens: 'id token',
  approval_messages: 'id',
  join_waits: 'key token',
  join_done: 'key source',
  head_maps: 'map key',
  run_facts: 'tenant place',
  run_terms: 'tenant term place',
  run_notes: 'at id',
  parent_tokens: 'token',
  cached_results: 'tenant block_hash inputs_hash at',
  run_marks: 'tenant run_id check_at',
  saved_views: 'tenant name',
  bulks: 'tenant bulk_id check_at',
  bulk_runs: 'tenant bulk_id of_run',
  erasing_bodies: 'tenant run_id sha256',
  artifacts: 'name',
  objects: 'tenant',
  long_objects: 'tenant',
  leases: 'tenant pool holder until',
  key_queues: 'tenant queue body version',
  queued_runs: 'tenant at run_id',
  start_holds: 'tenant at',
  request_counts: 'tenant caller window',
  noted_requests: 'tenant route key',
  turns: 'tenant name holder until',
  lineages: 'tenant root run_id at',
  goal_attempts: 'tenant root run_id at',
  stored_by_week: 'tenant week',
  dead_webhooks: 'tenant event_at id buried_at',
  tokens: 'id tenant expires_at',
  machine_definitions: 'hash',
  machine_uses: 'hash',
  machine_executions: 'machine name',
  machine_steps: 'path',
  machine_tokens: 'token path',
  graph_entities: 'tenant entity_id hash label type',
  graph_names: 'tenant name',
  graph_changes: 'tenant at',
  graph_manifests: 'tenant ref as_of',
  kept_events: 'tenant id expires_at',
  event_topics: 'tenant topic at id expires_at',
  event_waits: 'tenant topic wait until',
  callbacks: 'tenant run_id place',
  wait_tokens: 'tenant run_id wait token',
  callback_keys: 'tenant',
  spending_ledgers: 'cap period',
  spending_calls: 'cap period id',
  spending_raises: 'cap period id',
  trigger_states: 'tenant document name',
  firings: 'tenant document name id place kept_at state',
  drop_watches: 'document name prefix suffix',
  drops_seen: 'document name key version',
}

test('doctor looks at every column that holds JSON: each text of the file is known for what it is', async () => {
  await open()
  await close()
  const db = new DatabaseSync(join(dir, 'sluice.db'))
  const columns = db
    .prepare(
      `SELECT t.name || '.' || c.name AS name FROM sqlite_master t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.type = 'TEXT'`,
    )
    .all()
    .map(({ name }) => String(name))
  db.close()
  const plain = Object.entries(PLAIN).flatMap(([table, names]) => names.split(' ').map((name) => `${table}.${name}`))
  const json = JSON_COLUMNS.map(([table, column]) => `${table}.${column}`)
  expect(columns.toSorted()).toEqual([...plain, ...json].toSorted())
})

/** Of each of its uses one: what runs are, what they say, what machines hold, what the others keep. */
const DAILY = /^(metas|approvals|machine_executions|machine_steps|tokens)$/
const byUse = JSON_COLUMNS.toSorted(([a], [b]) => Number(DAILY.test(b)) - Number(DAILY.test(a)))
for (const { tags, rows } of firstDaily(byUse.filter(([table]) => DAILY.test(table)).length, byUse))
  test.each(rows)(
    'whatever row of %s.%s is damaged, doctor names it and the place starts',
    { tags },
    async (table, column) => {
      const [, good = ''] = twoEnded()
      const db = new DatabaseSync(join(dir, 'sluice.db'))
      const columns = db.prepare('SELECT name, type, "notnull" AS needed FROM pragma_table_info(?)').all(table)
      const values = columns.map(({ name, type }) =>
        name === column ? "'{'" : filler(String(name), String(type), good),
      )
      db.exec(`INSERT OR REPLACE INTO ${table} (${columns.map(({ name }) => `"${name}"`)}) VALUES (${values})`)
      db.close()
      expect(storeChecks(dir)[0]).toMatchObject({
        name: 'database',
        state: 'failed',
        says: expect.stringContaining(`${table}.${column} of `),
      })
      const at = await open()
      expect((await fetch(`${at.url}/api/dag/runs`)).status).toBe(200)
      expect((await fetch(`${at.url}/api/dag/approvals?status=all`)).status).toBe(200)
      expect(await startTwo(at)).toHaveLength(2)
      await place?.invoke('sweep', {})
      await place?.invoke('clear-machines', {})
    },
  )

/** Of a row that somebody wrote: of the run, and otherwise whatever the column takes. */
function filler(name: string, type: string, run_id: string): string {
  if (name === 'run') return `(SELECT run FROM runs WHERE run_id = '${run_id}')`
  if (name === 'id' && type === 'INTEGER') return `(SELECT run * ${2 ** 24} + 900 FROM runs WHERE run_id = '${run_id}')`
  if (name === 'end' || name === 'closed_at') return 'NULL'
  if (name === 'status') return "'pending'"
  return type === 'INTEGER' ? '1' : `'{}'`
}

test('a run whose row in the journal is damaged is set aside and named, the others go on, and it can be stopped', async () => {
  const first = await open()
  const waiting = { ...DAG, blocks: DAG.blocks.slice(0, 1).map((block) => ({ ...block, approval: true })) }
  const [wrong = '', good = ''] = await startTwo(first, waiting)
  await vi.waitFor(async () => expect(await pendingOf(first)).toHaveLength(2), 30_000)
  await close()
  damage("UPDATE machine_executions SET input = '{' WHERE name = ?", wrong)
  expect(storeChecks(dir)[0]?.says).toContain(`machine_executions.input of run ${wrong}`)
  const said: unknown[] = []
  const log = { info: () => undefined, error: (...line: unknown[]) => void said.push(line) }
  place = await openPlace(SettingsSchema.parse({ port: 0, data_dir: dir }), { listen: true, sweep_ms: 0, log })
  expect(said).toContainEqual([expect.stringContaining('set aside'), { run_id: wrong, seen: expect.any(String) }])
  const { url } = place
  for (const approval of await pendingOf(place)) {
    if (approval.run_id !== good) continue
    const body = JSON.stringify({ approval_id: approval.approval_id, decision: 'approve', digest: approval.digest })
    const headers = { 'content-type': 'application/json' }
    expect(
      (await fetch(`${url}/api/dag/runs/${good}/approvals`, { method: 'POST', headers, body })).status,
    ).toBeLessThan(300)
  }
  await vi.waitFor(async () => expect(await stateOf(url, good)).toBe('completed'), 30_000)
  expect(await stateOf(url, wrong)).toBe('paused_approval')
  const stopped = await fetch(`${url}/api/dag/runs/${wrong}/stop`, { method: 'POST' })
  expect(stopped.status).toBeLessThan(300)
  await vi.waitFor(async () => expect(await stateOf(url, wrong)).toBe('cancelled'), 30_000)
})

test('doctor finds a file that is no database any more', async () => {
  twoEnded()
  writeFileSync(join(dir, 'sluice.db'), 'x'.repeat(8_192))
  expect(storeChecks(dir)[0]).toMatchObject({ name: 'database', state: 'failed' })
})

const modeOf = (path: string) => statSync(path).mode & 0o777

test.skipIf(process.platform === 'win32')(
  'the data folder and its files are closed to others, old ones too',
  async () => {
    twoEnded()
    chmodSync(dir, 0o755)
    for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
      chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
    }
    mkdirSync(join(dir, 'mine'))
    writeFileSync(join(dir, 'mine', 'script.sh'), '', { mode: 0o755 })
    await startTwo(await open())
    expect(modeOf(dir)).toBe(0o700)
    for (const name of ['sluice.db', 'sluice.db-wal', 'lock', 'lock.pid'])
      expect([name, modeOf(join(dir, name))]).toEqual([name, 0o600])
    for (const entry of readdirSync(join(dir, 'objects'), { recursive: true, withFileTypes: true })) {
      expect(modeOf(join(entry.parentPath, entry.name))).toBe(entry.isDirectory() ? 0o700 : 0o600)
    }
    expect(modeOf(join(dir, 'mine', 'script.sh'))).toBe(0o755)
  },
)
