import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIsolate } from '../../../functions/isolate/isolate-pool.ts'
import { createSqliteJournal } from '../../../infra/local/asl/sqlite-journal.ts'
import { openDatabase } from '../../../infra/local/database.ts'
import { openHealth } from '../../../infra/local/health.ts'
import { openPlace, type Place } from '../../../infra/local/place.ts'
import { createHealth } from '../../../shared/ports/health.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

/** What /api/health says of a place whose database really has no room, and of probes that hang. */
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

let dir: string
let place: Place | undefined

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-health-'))
})
afterEach(async () => {
  await place?.close()
  place = undefined
  chmodSync(dir, 0o700)
  rmSync(dir, { recursive: true, force: true })
})

const REQUEST = {
  httpMethod: 'GET',
  path: '/api/health',
  pathParameters: null,
  queryStringParameters: null,
  headers: {},
  body: null,
  isBase64Encoded: false,
}

async function ask(at: Place) {
  const answer = (await at.invoke('get-health', REQUEST)) as { readonly statusCode: number; readonly body: string }
  return { status: answer.statusCode, json: JSON.parse(answer.body) }
}

test('a healthy place says what it tried', async () => {
  place = await openPlace(SettingsSchema.parse({ data_dir: dir }), { sweep_ms: 0 })
  const { status, json } = await ask(place)
  expect(status).toBe(200)
  expect(json.status).toBe('ok')
  for (const part of ['reads', 'writes', 'machine']) expect(json.parts[part].state).toBe('ok')
  expect(json.parts.writes.checked).toContain('committed to the database')
  expect(Date.parse(json.checked_at)).toBeGreaterThan(0)
})

test('a database without room for another page: writes fail, reads do not', async () => {
  const isolate = createIsolate()
  const db = openDatabase(dir)
  const clock = { now: () => 1, delay: pause }
  db.exec('CREATE TABLE runs (run INTEGER); ')
  const parts = {
    db,
    folder: dir,
    isolate,
    journal: createSqliteJournal(db),
  }
  expect((await openHealth({ ...parts, clock }).look()).parts.writes.state).toBe('ok')
  db.exec('VACUUM')
  const pages = Number(db.prepare('PRAGMA page_count').get()?.page_count)
  db.exec(`PRAGMA max_page_count = ${pages}`)
  const { parts: full } = await openHealth({ ...parts, clock }).look()
  expect(full.reads.state).toBe('ok')
  expect(full.writes).toMatchObject({ state: 'failed' })
  expect(full.writes.why).toContain('store_unavailable')
  db.close()
  await isolate.close()
})

test('the folder of objects cannot be written to: 503, and good again once it can', async () => {
  let at = Date.now()
  const clock = { now: () => at, delay: pause }
  place = await openPlace(SettingsSchema.parse({ data_dir: dir }), { sweep_ms: 0, clock })
  expect((await ask(place)).status).toBe(200)
  // A file stands where the folder was: so it is refused to root too.
  const objects = join(dir, 'objects')
  rmSync(objects, { recursive: true, force: true })
  writeFileSync(objects, '')
  at += 60_000
  const { status, json } = await ask(place)
  expect(status).toBe(503)
  expect(json).toMatchObject({ code: 'place_unable', facts: { status: 'unable' } })
  expect(json.detail).toContain('writes (object_store_unavailable')
  expect(json.facts.parts).toMatchObject({ reads: { state: 'ok' }, writes: { state: 'failed' } })
  rmSync(objects)
  at += 60_000
  expect((await ask(place)).status).toBe(200)
})

test('what hangs is unchecked, and failed when it has hung for long; the others tell', async () => {
  let at = 0
  const fine = { checked: 'it', probe: async () => {} }
  const hangs = { checked: 'it', probe: () => new Promise<void>(() => {}) }
  const health = createHealth(
    { reads: fine, writes: hangs, machine: fine, isolates: { checked: 'nothing', probe: 'by design' } },
    { now: () => at, delay: pause },
    1,
  )
  const first = (await health.look()).parts
  expect([first.reads.state, first.writes.state, first.isolates]).toEqual([
    'ok',
    'unchecked',
    { state: 'unchecked', checked: 'nothing', why: 'by design' },
  ])
  at = 21_000
  expect((await health.look()).parts.writes).toMatchObject({
    state: 'failed',
    why: 'No answer yet: it was asked 21 s ago.',
  })
})
