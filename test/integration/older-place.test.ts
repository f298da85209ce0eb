import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { sluiceClient } from '../../clients/sdk/client.ts'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'

/**
 * The data folder of a place as an earlier version left it when it was killed, gzipped: both runs wait for a person and for
 * an event. Whoever installs a newer version starts it on such a folder.
 */
const OLDER: {
  readonly at: string
  readonly runs: readonly [string, string]
  readonly files: Readonly<Record<string, string>>
} = JSON.parse(readFileSync(join(import.meta.dirname, '../machines/older-place.json'), 'utf8'))

let folder: string
let place: Place | undefined
afterEach(async () => {
  await place?.close()
  rmSync(folder, { recursive: true, force: true })
})

test('runs in flight in the folder of an earlier version go on to their ends, and their logs verify', async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-older-'))
  for (const [path, text] of Object.entries(OLDER.files)) {
    mkdirSync(dirname(join(folder, 'data', path)), { recursive: true })
    writeFileSync(join(folder, 'data', path), gunzipSync(Buffer.from(text, 'base64')))
  }
  // What it waits for has a time-out: it is opened a minute after it was killed.
  const late = Date.now() - Date.parse(OLDER.at) - 60_000
  const clock = { ...systemClock, now: () => Date.now() - late }
  const settings = SettingsSchema.parse({ port: 0, data_dir: join(folder, 'data'), dags: [folder] })
  place = await openPlace(settings, { listen: true, clock, sweep_ms: 100 })
  const client = sluiceClient({ url: place.url ?? '' })
  const [yes, no] = OLDER.runs
  for await (const asked of client.approvals()) {
    if (asked.run_id === yes) await client.approve(yes, asked)
    else await client.reject(no, asked)
  }
  await client.api.POST('/api/events', { body: { name: 'order.paid', payload: { amount: 12 } } })
  expect(await client.result(yes, { blocks: ['trim'] })).toMatchObject({
    state: 'completed',
    outputs: { trim: { text: 'hello' }, receipt: { text: 'Paid 12' } },
  })
  expect((await client.result(no)).state).not.toBe('completed')
  for (const run_id of OLDER.runs) {
    const { data } = await client.api.GET('/api/dag/runs/{run_id}/verify', { params: { path: { run_id } } })
    expect(data).toMatchObject({ ok: true })
  }
})
