import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Started, sluice, startSluice } from '../../e2e/run-cli.ts'
import type { ProviderServer } from '../../emulators/provider-server.ts'
import { startScriptedModel } from '../../emulators/scripted-model.ts'

/** `sluice test` and `sluice test record`. */
const dir = mkdtempSync(join(tmpdir(), 'sluice-test-cases-'))
const ROOT = resolve(import.meta.dirname, '../../..')

const WRITE = `
name: write
inputs: { topic: { type: string, default: gates } }
blocks:
  - id: draft
    inputs: { topic: string }
    outputs: { text: string }
    agent: { provider: big, model: m, prompt: "Write about {{inputs.topic}}." }
    retry: { max_attempts: 2, delay_ms: 1000 }
    post_gates: [{ name: long, check: { type: min_length, port: text, min: 10 } }]
  - id: publish
    when: inputs.topic != "secrets"
    inputs: { text: { from: draft.text }, topic: string }
    outputs: { done: string }
    mode: deterministic
    deterministic: { handler: transform, config: { expression: inputs.text } }
    approval: { prompt: "Publish?", show: [text] }
`

const CASES = `dag: write
cases:
  - name: a text is published once somebody agrees
    models: { big: A text that is long enough. }
    decisions: approve
    expect:
      status: completed
      outputs: { publish.done: A text that is long enough. }
      calls: { models: { big: 1 } }
  - name: a short text is not
    models: { big: Short. }
    expect: { status: failed, attempts: { draft: 2 }, gates: { draft.long: [failed, failed] } }
    must_not: { ask: [publish] }
`

const WRONG = `dag: write
cases:
  - name: it says something else
    models: { big: "one line\\ntwo lines\\nthree" }
    decisions: approve
    expect:
      outputs: { publish.done: "one line\\n2 lines\\nthree", draft.txt: x }
  - { name: later, skip: nobody wrote it yet }
`

let server: Started
let model: ProviderServer

beforeAll(async () => {
  model = await startScriptedModel(['A text that is long enough.'])
  for (const folder of ['dags', 'tests', 'wrong']) mkdirSync(join(dir, folder))
  write('dags/write.yaml', WRITE)
  write('tests/write.yaml', CASES)
  write('wrong/write.yaml', WRONG)
  write('sluice.yaml', `providers: { big: { type: openai-compatible, url: "${model.url}" } }\n`)
  server = await startSluice(['start', '--port', '0', '--json'], dir)
})
afterAll(async () => {
  await server.stop('SIGTERM')
  await model.close()
  rmSync(dir, { recursive: true, force: true })
})

function write(path: string, text: string): void {
  writeFileSync(join(dir, path), text)
}

function run(...args: readonly string[]) {
  return sluice(['test', ...args], { cwd: dir, env: { SLUICE_URL: String(server.first.url) } })
}

describe('sluice test', () => {
  test('plays every tests/*.yaml, and tells what no case reached', async () => {
    const { code, out } = await run()
    expect(out).toMatch(/^tests\/write\.yaml\n {2}✓ a text is published once somebody agrees \(\d+ ms\)\n {2}✓ a short/)
    expect(out).toContain('write: 6 of 8 reached by a case\n')
    expect(out).toContain('  not reached: branch   publish is skipped by when\n')
    expect(out).toContain('  not reached: approval publish is answered reject\n')
    expect(out).toMatch(/\n2 cases: 2 passed, 0 failed, in \d+ ms\n$/)
    expect([code, model.asked]).toEqual([0, []])
  })

  test('says what was expected and seen, line by line, with exit code 100 and as JUnit', async () => {
    const { code, out } = await run('wrong/write.yaml', '--junit', 'report.xml', '--no-coverage')
    expect(code).toBe(100)
    expect(out).toContain(`  ✗ it says something else`)
    expect(out).toContain(
      'expect.outputs.publish.done: - expected, + seen\n        one line\n      - 2 lines\n      + two lines\n',
    )
    expect(out).toContain('expect.outputs names "draft.txt", which the document does not have')
    expect(out).toContain('Did you mean "draft.text"?')
    expect(out).toContain('  - later: skipped, nobody wrote it yet')
    expect(out).not.toContain('reached')
    const xml = readFileSync(join(dir, 'report.xml'), 'utf8')
    expect(xml).toContain('<testsuite name="wrong/write.yaml" tests="2" failures="1" skipped="1">')
    expect(xml).toContain('- 2 lines\n')
  })

  test('answers JSON, of the cases that were chosen', async () => {
    const { code, out } = await run('--only', 'short', '--json', '--min-coverage', '90')
    const told = JSON.parse(out)
    expect(told).toMatchObject({ passed: 1, failed: 0, skipped: 0, cases: [{ verdict: 'passed', misses: [] }] })
    expect(told.coverage.documents[0]).toMatchObject({ dag: 'write', of: 8 })
    expect(code).toBe(100)
  })

  test('plays nothing where a file has errors, and says where', async () => {
    write('wrong/typo.yaml', 'dag: write\ncases:\n  - name: a\n    expect: { status: complet }\n')
    const { code, err } = await run('wrong/typo.yaml', 'tests/write.yaml')
    expect(code).toBe(2)
    expect(err).toContain('wrong/typo.yaml:4:23: cases[0].expect.status is "complet"; allowed are')
    expect(err).toContain('Did you mean "completed"?')
  })

  test('says so where there is nothing to play', async () => {
    const { code, err } = await run('--only', 'nobody')
    expect([code, err]).toEqual([2, expect.stringContaining('No case has "nobody" in its name or file. There are 2.')])
  })
})

test('sluice test record makes a case of a run, which holds', async () => {
  const env = { SLUICE_URL: String(server.first.url) }
  const started = await sluice(['run', 'start', 'write', '--input', 'topic=recordings', '--yes', '--json'], {
    cwd: dir,
    env,
  })
  const id = /run_[0-9a-z]{26}/.exec(started.out)?.[0] ?? ''
  const asked = model.asked.length
  const { code, out, err } = await run('record', id, '-o', 'recorded/one.yaml')
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('Wrote recorded/one.yaml, and what models answered in recorded/recordings/one.json')
  const text = readFileSync(join(dir, 'recorded/one.yaml'), 'utf8')
  expect(text).toContain('topic: recordings')
  expect(text).toContain('publish.done: A text that is long enough.')
  const played = await run('recorded/one.yaml', '--no-coverage')
  expect([played.code, played.out]).toEqual([0, expect.stringMatching(/✓ as in run_/)])
  expect(model.asked).toHaveLength(asked)
  expect((await run('record', id, '-o', 'recorded/one.yaml')).err).toContain('it is there already')
})

test('the cases of the shipped documents hold', { tags: ['thorough'] }, async () => {
  const { code, out } = await sluice(['test', '--no-coverage'], { cwd: ROOT })
  expect([code, out]).toEqual([0, expect.stringMatching(/\d+ cases: \d+ passed, 0 failed, in /)])
})
