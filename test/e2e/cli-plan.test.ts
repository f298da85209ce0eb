import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunGraphSchema } from '../../shared/plan/graph-schema.ts'
import { jsonLines, sluice, startSluice } from './run-cli.ts'

const DAG = `
name: release
blocks:
  - { id: plan, mode: deterministic, deterministic: { handler: pass }, inputs: { text: { type: string, default: x } }, outputs: { text: string } }
  - { id: build, mode: deterministic, deterministic: { handler: pass }, inputs: { text: { from: plan.text } }, outputs: { text: string } }
  - { id: check, mode: deterministic, deterministic: { handler: pass }, inputs: { text: { from: plan.text } }, outputs: { text: string } }
`

let cwd = ''
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-plan-'))
  writeFileSync(join(cwd, 'release.yaml'), DAG)
  writeFileSync(join(cwd, 'bad.yaml'), DAG.replace('from: plan.text', 'from: pla.text'))
  writeFileSync(join(cwd, 'sluice.yaml'), 'safety: { max_parallel: 1 }\n')
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

describe('sluice plan', () => {
  test('says what a run will do, in 80 columns', async () => {
    const { code, out } = await sluice(['plan', 'release.yaml', '--durations', 'build=4,check=2.5'], { cwd })
    expect(code).toBe(0)
    expect(out).toMatch(
      /^release: 3 blocks, 1 Parallel, 0 joins, 1 machine\n {2}critical path 5\.00 s: plan -> build\n/,
    )
    expect(out).toMatch(/makespan {6}5\.00 s; with 1 at once about 7\.50 s/)
    expect(out).toMatch(/some\s+will\s+wait\s+for\s+a\s+slot/)
    expect(out).toMatch(/\$\d\.\d\d of orchestration/)
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  test('prints the whole plan as JSON', async () => {
    const { code, out } = await sluice(['plan', 'release.yaml', '--json', '--max-parallel', '0'], { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      dag: 'release',
      critical_path: { seconds: 2 },
      makespan: { seconds: 2, max_parallel: 0 },
      transitions: 7,
      next_limit: { name: expect.any(String), used: expect.any(Number) },
    })
  })

  test.each<[readonly string[], number, RegExp]>([
    [['bad.yaml'], 100, /it has errors\. \[invalid_dag\]\n.*7?.*Did you mean "plan\.text"/s],
    [['none.yaml'], 2, /there is no such file/],
    [[], 2, /Name the DAG file to plan/],
    [['release.yaml', '--ndjson'], 2, /not both/],
    [['release.yaml', '--durations', 'biuld=1'], 1, /"biuld".*did you mean "build"\. \[unknown_block\]/],
    [['release.yaml', '--durations', 'build'], 2, /Pairs block=number/],
    [['release.yaml', '--durations', 'build=-1'], 2, /Seconds from 0/],
    [['release.yaml', '--max-parallel', '1001'], 2, /whole number from 0 to 1000/],
  ])('%j ends with exit code %i', async (args, exitCode, words) => {
    const { code, out, err } = await sluice(['plan', ...args], { cwd })
    expect({ code, out }).toEqual({ code: exitCode, out: '' })
    expect(err).toMatch(words)
  })

  test('--ndjson answers each line in order, and says at the end that one was bad', async () => {
    const lines = [
      '{"id":"a","n":3,"edges":[0,1,0,2],"dur":[1,2,3]}',
      'no',
      '',
      '{"id":2,"n":2,"edges":[0,1,1,0]}',
      '{"id":3,"n":1}',
    ]
    const { code, out } = await sluice(['plan', '--ndjson'], { stdin: lines.join('\n') })
    expect(code).toBe(100)
    expect(jsonLines(out)).toEqual([
      expect.objectContaining({
        id: 'a',
        critical_path: 4,
        makespan: 4,
        max_start_error: 0,
        compile_ms: expect.any(Number),
      }),
      { error: { code: 'malformed_line', message: expect.stringMatching(/line 2/) } },
      { id: 2, error: { code: 'cycle', message: expect.stringMatching(/line 4/) } },
      expect.objectContaining({ id: 3, critical_path: 1 }),
    ])
    expect((await sluice(['plan', '--ndjson'], { stdin: '{"id":1,"n":1}\n' })).code).toBe(0)
  })

  test('--ndjson takes a thousand lines', { tags: ['thorough'] }, async () => {
    const edges = Array.from({ length: 60 }, (_, v) => [v, v + 1]).flat()
    const lines = Array.from({ length: 1_000 }, (_, id) => JSON.stringify({ id, n: 61, edges }))
    const { code, out } = await sluice(['plan', '--ndjson'], { stdin: lines.join('\n') })
    expect(code).toBe(0)
    expect(jsonLines(out)).toHaveLength(1_000)
  })
})

describe('sluice graph', () => {
  test.each([
    [[], /^flowchart LR\n/],
    [['--format', 'dot'], /^digraph "release" \{/],
    [['--format', 'svg'], /^<svg /],
    [['--json'], /^\{\n {2}"dag": "release"/],
  ])('%j', async (args, words) => {
    const { code, out } = await sluice(['graph', 'release.yaml', ...args], { cwd })
    expect(code).toBe(0)
    expect(out).toMatch(words)
  })

  test('refuses a document with errors and a format there is none of', async () => {
    expect(await sluice(['graph', 'bad.yaml'], { cwd })).toMatchObject({ code: 100, out: '' })
    expect((await sluice(['graph', 'release.yaml', '--format', 'png'], { cwd })).code).toBe(2)
  })
})

test('sluice schema prints the JSON Schema of a document', async () => {
  const { code, out } = await sluice(['schema'])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' })
  expect((await sluice(['schema', '--json'])).out.trimEnd().split('\n')).toHaveLength(1)
})

test('sluice run graph draws a run of a server', { tags: ['thorough'] }, async () => {
  const server = await startSluice(['start', '--port', '0', '--json'], cwd)
  const url = String(server.first.url)
  try {
    const run = await sluice(['run', 'start', 'release.yaml', '--watch', '--json', '--url', url], { cwd })
    const runId = /run_[0-9a-z]{26}/.exec(run.out)?.[0] ?? ''
    const { out } = await sluice(['run', 'graph', runId, '--json', '--url', url])
    const graph = RunGraphSchema.parse(JSON.parse(out))
    expect(graph).toMatchObject({
      run_id: runId,
      state: 'completed',
      critical_path: { blocks: ['plan', expect.any(String)] },
    })
    expect(graph.nodes.map(({ id, state }) => [id, state])).toEqual([
      ['plan', 'completed'],
      ['build', 'completed'],
      ['check', 'completed'],
    ])
    expect((await sluice(['run', 'graph', runId, '--url', url])).out).toMatch(/completed/)
    const unknown = await sluice(['run', 'graph', `run_${'0'.repeat(26)}`, '--url', url])
    expect({ code: unknown.code, err: unknown.err }).toEqual({ code: 1, err: expect.stringMatching(/\[unknown_run\]/) })
  } finally {
    await server.stop('SIGTERM')
  }
})
