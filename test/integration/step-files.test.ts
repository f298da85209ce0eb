import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** Bodies of steps: files of inputs, artifacts by name, and what a retried run takes over of them. */
const project = mkdtempSync(join(tmpdir(), 'sluice-step-files-'))
let place: TestPlace

const WRITE = `
import { defineStep, file } from 'sluice'
import * as z from 'zod'
export default defineStep({
  inputs: z.object({ text: z.string() }),
  outputs: z.object({ body: file() }),
  run: async ({ inputs, artifacts }) => ({ body: await artifacts.write('notes/said.txt', inputs.text) }),
})
`
const COUNT = `
const { readFileSync, writeFileSync } = require('node:fs')
const { inputs, files, artifacts } = JSON.parse(readFileSync(0, 'utf8'))
const body = readFileSync(files + '/body', 'utf8')
writeFileSync(artifacts + '/copy.txt', body.toUpperCase())
process.stdout.write(JSON.stringify({ bytes: body.length, loud: 'artifacts/copy.txt' }))
`
const DOCUMENT = (min: number) => `
name: files
inputs: { text: string }
blocks:
  - { id: write, mode: deterministic, inputs: { text: string }, deterministic: { handler: ./steps/write.ts } }
  - id: count
    mode: deterministic
    inputs: { body: { from: write.body } }
    deterministic: { handler: ./steps/count }
    post_gates: [{ name: enough, check: { type: range, port: bytes, min: ${min} }, on_fail: fail }]
  - id: read
    mode: deterministic
    inputs: { file: { from: count.loud } }
    outputs: { text: string }
    deterministic: { handler: read-input }
`

beforeAll(async () => {
  mkdirSync(join(project, 'steps'))
  writeFileSync(join(project, 'steps/write.ts'), WRITE)
  writeFileSync(join(project, 'steps/count.cjs'), COUNT)
  const count = {
    exec: [process.execPath, 'steps/count.cjs'],
    inputs: { body: 'file' },
    outputs: { bytes: 'number', loud: 'file' },
  }
  place = await openTestPlace({}, { project_dir: project, programs: { './steps/count': count } })
})
afterAll(async () => {
  await place.close()
  rmSync(project, { recursive: true, force: true })
})

const names = async (runId: string) => {
  const { json } = await place.call('list-artifacts', runId)
  return (json as unknown as { artifacts: { name: string }[] }).artifacts.map(({ name }) => name).toSorted()
}

test('a program finds the file of an input under the name of its port, and an output names a file it leaves', async () => {
  const runId = await place.start(DOCUMENT(1), { inputs: { text: 'one two' } })
  const events = await place.ended(runId)
  expect(events.at(-1)?.type, JSON.stringify(events.map(({ data }) => data))).toBe('run:completed')
  const read = events.find(({ type, block_id }) => type === 'block:output' && block_id === 'read')
  const ref = read?.type === 'block:output' ? (read.data.outputs.text?.ref ?? '') : ''
  expect(Buffer.from(await place.place.world.objects.get('main', ref)).toString()).toBe('"ONE TWO"')
  expect(await names(runId)).toEqual(['copy.txt', 'notes/said.txt'])
})

test('what a gate refused is no artifact of the run, and a retried run takes over those of what it does not do again', async () => {
  const failed = await place.start(DOCUMENT(100), { inputs: { text: 'one two' } })
  expect((await place.ended(failed)).at(-1)?.type).toBe('run:failed')
  expect(await names(failed)).toEqual(['notes/said.txt'])
  const { json } = await place.call('retry-run', failed, { dag: DOCUMENT(2) })
  const retried = String((json as { run_id?: string }).run_id)
  const events = await place.ended(retried)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(events.filter(({ type, block_id }) => type === 'step:started' && block_id === 'write')).toEqual([])
  expect(await names(retried)).toEqual(['copy.txt', 'notes/said.txt'])
})
