import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RecordingSchema } from '../../../shared/providers/recording.ts'
import { sluice } from '../../e2e/run-cli.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

const dir = mkdtempSync(join(tmpdir(), 'sluice-record-'))
let place: TestPlace
let id: string

beforeAll(async () => {
  place = await openTestPlace({ listen: true }, { port: 0 })
  const agent = { provider: 'local', model: 'outline', prompt: 'Say three words.' }
  id = await place.start({ blocks: [{ id: 'a', outputs: { text: 'string' }, agent }] })
  await place.ended(id)
})
afterAll(async () => {
  await place.close()
  rmSync(dir, { recursive: true, force: true })
})

async function cli(...args: readonly string[]) {
  const { code, out, err } = await sluice([...args, '--url', place.place.url ?? ''], { cwd: dir })
  return { said: out, warned: err, status: code }
}

test('sluice run record writes the recording to a file and prints its object', async () => {
  const { said, status } = await cli('run', 'record', id, '-o', 'r.json')
  expect([status, said]).toEqual([
    0,
    expect.stringMatching(/^1 recorded answers? in r\.json, .*objstore:\/\/main\/[0-9a-f]{64}$/m),
  ])
  const recording = RecordingSchema.parse(JSON.parse(readFileSync(join(dir, 'r.json'), 'utf8')))
  expect(recording).toMatchObject({ run_id: id, calls: [{ at: '0/0/1/0', provider: 'local', model: 'outline' }] })
})

test('--json prints the recording itself, and without -o no file is written', async () => {
  const { said } = await cli('run', 'record', id, '--json')
  expect(RecordingSchema.parse(JSON.parse(said).recording).run_id).toBe(id)
})

test('a file that cannot be written is a usage error, a run nobody knows is refused', async () => {
  expect(await cli('run', 'record', id, '-o', 'no/such/folder/r.json')).toMatchObject({
    status: 2,
    warned: expect.stringContaining('Cannot write "no/such/folder/r.json"'),
  })
  expect(await cli('run', 'record', 'run_0123456789abcdefghjkmnpqrs')).toMatchObject({ status: 1 })
})
