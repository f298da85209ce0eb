import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { hashAfter } from '../../shared/runs/hash-chain.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { type Started, sluice, startSluice } from './run-cli.ts'

const DAG = `
name: release
inputs: { tone: { type: string, default: dry }, copies: { type: number, default: 1 } }
blocks:
  - id: plan
    outputs: { text: string }
    agent: { provider: local, model: outline, prompt: "Plan this. First look. Then act." }
  - id: say
    inputs: { text: { from: plan.text } }
    outputs: { text: string }
    agent: { provider: local, model: template, prompt: say, model_params: { template: "{{inputs.tone}}" } }
    post_gates: [{ name: warm, check: { type: contains, port: text, values: [warm] }, on_fail: fail }]
  - id: keep
    mode: deterministic
    inputs: { body: { from: say.text } }
    outputs: { file: artifact }
    deterministic: { handler: write-artifact, config: { name: out.md } }
`

let folder = ''
let place: Started
let url = ''
let failed = ''
let retried = ''

const cli = (...args: string[]) => sluice([...args, '--url', url], { cwd: folder })
const newest = async () => JSON.parse((await cli('run', 'list', '--json')).out).runs[0].run_id as string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-retry-'))
  writeFileSync(join(folder, 'release.yaml'), DAG)
  place = await startSluice(['start', '--port', '0', '--json'], folder)
  url = String(place.first.url)
  expect((await cli('run', 'start', 'release.yaml', '--watch')).code).toBe(1)
  failed = await newest()
  const watched = await cli('run', 'retry', failed, '--input', 'tone=warm', '--watch')
  expect([watched.code, watched.err]).toEqual([0, ''])
  expect(watched.out).toContain(`It retries ${failed}. Taken over where gates still hold: plan`)
  expect(watched.out).toContain(`plan: completed: kept result of ${failed}`)
  retried = await newest()
})
afterAll(async () => {
  await place.stop('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

describe('run retry', () => {
  test('is shown by both runs', async () => {
    expect((await cli('run', 'status', failed)).out).toContain(`Retried by ${retried}`)
    const { out } = await cli('run', 'status', retried)
    expect(out).toContain(`Retries run ${failed}`)
    expect(out).toMatch(new RegExp(`plan +completed .*result of ${failed}`))
  })

  test('begins again from a block, with a document of a file, and says how to follow it', async () => {
    writeFileSync(join(folder, 'edited.yaml'), DAG.replace('out.md', 'other.md'))
    const { code, out } = await cli('run', 'retry', retried, '--from', 'say', '--dag', 'edited.yaml')
    expect([code, out]).toEqual([0, expect.stringContaining('Follow it:')])
    expect(out).toContain('Taken over where gates still hold: plan')
  })

  test.each([
    [['--from', 'sya'], 1, /Did you mean "say"\? \[unknown_block\]/],
    [['--input', 'copies=many'], 2, /declares "copies" as a number/],
    [['--dag', 'nowhere.yaml'], 2, /Cannot read DAG file "nowhere.yaml"/],
  ])('is refused with %s', async (args, code, words) => {
    const done = await cli('run', 'retry', retried, ...args)
    expect([done.code, done.out]).toEqual([code, ''])
    expect(done.err).toMatch(words)
  })
})

test('run diff shows two runs side by side', async () => {
  const { code, out } = await cli('run', 'diff', failed, retried)
  expect(code).toBe(0)
  expect(out).toContain('The document is the same.')
  expect(out).toContain('Context: tone (differs)')
  expect(out).toMatch(/plan +completed +taken over +same/)
  expect(out).toMatch(/say +failed +completed +text differs +warm: failed \/ passed/)
  const { out: json } = await cli('run', 'diff', failed, retried, '--json')
  expect(JSON.parse(json)).toMatchObject({ a: { run_id: failed }, b: { run_id: retried } })
})

test('run export writes a run that can be checked without a server', async () => {
  const { code, out } = await cli('run', 'export', retried, '-o', 'run.json')
  expect([code, out]).toEqual([0, expect.stringContaining('in run.json')])
  const file = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
  const { events, seal, objects } = file as { events: RunEvent[]; seal: unknown; objects: Record<string, Held> }
  expect(file).toMatchObject({ format: 'sluice-run/1', left_out: [], run: { run: { retry_of: failed } } })
  expect(seal).toEqual({ seq: events.length, hash: hashAfter(events) })
  expect(Object.values(objects)).toHaveLength(4)
  for (const held of Object.values(objects)) expect(sha256(held.text ?? '')).toBe(held.sha256)
  expect(file.artifacts).toMatchObject([{ name: 'out.md' }])
})

interface Held {
  readonly sha256: string
  readonly text?: string
}

test('run export names what it leaves out', async () => {
  const { code, out, err } = await cli('run', 'export', retried, '--max-mib', '0')
  expect(code).toBe(0)
  expect(JSON.parse(out).objects).toEqual({})
  expect(err).toContain('Left out: artifact out.md (no room left, see --max-mib)')
  expect((await cli('run', 'export', retried, '-o', 'no/such/folder.json')).code).toBe(2)
})
