import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { storeChecks } from '../../../clients/cli/doctor-store.ts'
import { openPlace, type Place } from '../../../infra/local/place.ts'
import { RUN_ROUTES } from '../../../shared/api/run-routes.ts'
import { SettingsSchema } from '../../../shared/settings.ts'

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
  ],
}

const StartedSchema = z.looseObject({ run_id: z.string() })

async function startTwo(at: Place): Promise<readonly string[]> {
  const ids: string[] = []
  for (let n = 0; n < 2; n += 1) {
    const response = await fetch(`${at.url}/api/dag/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ dag: DAG }),
    })
    const json = StartedSchema.parse(await response.json())
    ids.push(json.run_id)
  }
  return ids
}

function damage(sql: string, ...values: readonly string[]): void {
  const db = new DatabaseSync(join(dir, 'sluice.db'))
  db.prepare(sql).run(...values)
  db.close()
}

test.each([
  ['META', "UPDATE metas SET body = '{' WHERE run = (SELECT run FROM runs WHERE run_id = ?)"],
  ['META', 'DELETE FROM metas WHERE run = (SELECT run FROM runs WHERE run_id = ?)'],
  ['HEAD', "INSERT INTO head_maps (run, map, key, body) SELECT run, 'modules', 'm', '{' FROM runs WHERE run_id = ?"],
])('a run whose %s is damaged is named, and the rest is listed', async (item, sql) => {
  const [wrong = '', good = ''] = await startTwo(await open())
  await close()
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
  const [wrong = ''] = await startTwo(await open())
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
  expect(database).toMatchObject({ state: 'failed', says: `rows that are no JSON: metas of ${wrong}` })
  expect(database?.fix).toContain('.recover')
  expect(stored).toMatchObject({ state: 'failed' })
  expect(stored?.says).toContain(file.name)
})

test('doctor finds a file that is no database any more', async () => {
  await startTwo(await open())
  await close()
  writeFileSync(join(dir, 'sluice.db'), 'x'.repeat(8_192))
  expect(storeChecks(dir)[0]).toMatchObject({ name: 'database', state: 'failed' })
})

const modeOf = (path: string) => statSync(path).mode & 0o777

test.skipIf(process.platform === 'win32')(
  'the data folder and its files are closed to others, old ones too',
  async () => {
    await startTwo(await open())
    await close()
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
