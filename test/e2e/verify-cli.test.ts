import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Started, sluice, startSluice } from './run-cli.ts'

let folder = ''
let place: Started
let runId = ''
const url = () => String(place.first.url)
const verify = (...args: string[]) => sluice(['run', 'verify', runId, '--url', url(), ...args], { cwd: folder })

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-verify-'))
  place = await startSluice(['start', '--port', '0', '--json'], folder)
  const started = await sluice(
    ['run', 'start', '--example', 'basic', '--input', 'goal=A parser', '--watch', '--url', url()],
    { cwd: folder },
  )
  runId = /(run_\w{26})/.exec(started.out)?.[1] ?? ''
})
afterAll(async () => {
  await place.stop('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

describe('sluice run verify', () => {
  test('prints each check of the server and those of its own, and ends with 0', async () => {
    const { code, out, err } = await verify()
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^ok {9}0 the stored events are those its hash chain was closed over$/m)
    expect(out).toMatch(/^ok {8}23 what is stored of the run is the fold of its events/m)
    expect(out).toMatch(/^ok {11}fold of the replay = GET run, computed here$/m)
    expect(out).toMatch(/: \d+ events, all \d+ checks hold\.\n$/)
    expect(out).not.toContain('FAILED')
    // The one thing a place on one's own machine cannot have.
    expect([...out.matchAll(/^left out .*$/gm)].map(([line]) => line)).toEqual([
      expect.stringContaining('not anchored: '),
    ])
  })

  test('finds one byte that somebody changed in the file, ends with 100, says where', async () => {
    await place.stop('SIGTERM')
    const db = new DatabaseSync(join(folder, '.sluice', 'sluice.db'))
    const { changes } = db
      .prepare(
        "UPDATE events SET body = replace(body, 'all 2 blocks', 'all 3 blocks') WHERE body LIKE '%all 2 blocks%'",
      )
      .run()
    db.close()
    expect(changes).toBe(1)
    place = await startSluice(['start', '--port', '0', '--json'], folder)
    const { code, out } = await verify()
    expect(code).toBe(100)
    expect(out).toMatch(/^FAILED {5}0 the stored events/m)
    expect(out).toMatch(/^FAILED {7}hash chain of the replay, computed here$/m)
    const json = await verify('--json')
    expect(json.code).toBe(100)
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, seal: { matches: false }, recomputed: expect.any(Array) })
  })

  test('of a run that is not there ends with 1', async () => {
    const { code, err } = await sluice(['run', 'verify', 'run_00000000000000000000000000', '--url', url()])
    expect([code, err]).toEqual([1, expect.stringContaining('[unknown_run]')])
  })
})
