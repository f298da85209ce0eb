import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noTerminal } from './pseudo-terminal.ts'
import { jsonLines, sluice, spawnSluice } from './run-cli.ts'
import { CTRL_D, typeOnTerminal } from './typed-terminal.ts'

const GOOD = `
blocks:
  - id: plan
    outputs: { plan: { type: string } }
    agent: { provider: local, model: m, prompt: "Plan {{inputs.goal}}" }
  - id: build
    inputs: { plan: { from: plan.plan } }
    outputs: { patch: { type: string } }
    agent: { provider: local, model: m, prompt: "Build {{inputs.plan}}" }
`
const BAD = GOOD.replace('from: plan.plan', 'from: plan.pan')

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function project(files: Readonly<Record<string, string>>): string {
  const cwd = mkdtempSync(join(folder, 'p-'))
  mkdirSync(join(cwd, 'dags'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  return cwd
}

describe('sluice validate', () => {
  test('names the order of a valid document', async () => {
    const cwd = project({ 'good.yaml': GOOD })
    expect(await spawnSluice(['validate', 'good.yaml'], { cwd })).toEqual({
      code: 0,
      out: 'good.yaml is valid: plan, build\n',
      err: '',
    })
  })

  test('says place, what was seen and what is allowed, with exit code 100', async () => {
    const cwd = project({ 'bad.yaml': BAD })
    const { code, out } = await sluice(['validate', 'bad.yaml'], { cwd })
    expect(code).toBe(100)
    expect(out).toMatch(
      /^bad\.yaml has 1 error:\n {2}7:\d+ {2}unknown_output {2}block "build" .*"plan\.pan".*Did you mean "plan\.plan"\?\n$/,
    )
  })

  test('without a file checks sluice.yaml and every document, and all are reported', async () => {
    const cwd = project({ 'sluice.yaml': 'port: 5050\nprot: 1\n', 'dags/a.yaml': GOOD, 'dags/b.yaml': BAD })
    const { code, out } = await sluice(['validate', '--json'], { cwd })
    expect(code).toBe(100)
    expect(JSON.parse(out)).toMatchObject([
      { file: 'sluice.yaml', valid: false, errors: [{ path: 'prot', line: 2 }] },
      { file: 'dags/a.yaml', valid: true, order: ['plan', 'build'] },
      { file: 'dags/b.yaml', valid: false, errors: [{ line: 7 }] },
    ])
  })

  test('knows the providers of sluice.yaml', async () => {
    const elsewhere = GOOD.replaceAll('provider: local', 'provider: mine')
    const settings = 'providers: { mine: { type: local } }\n'
    const cwd = project({ 'sluice.yaml': settings, 'dags/a.yaml': elsewhere })
    expect((await sluice(['validate'], { cwd })).code).toBe(0)
    expect((await sluice(['validate'], { cwd: project({ 'dags/a.yaml': elsewhere }) })).code).toBe(100)
  })

  test('answers exit code 2 for a file that is not there, and where there is nothing to check', async () => {
    const missing = await sluice(['validate', 'nope.yaml'], { cwd: folder })
    expect(missing.code).toBe(2)
    expect(missing.err).toMatch(/Cannot read file "nope\.yaml": there is no such file/)
    expect(await sluice(['validate'], { cwd: folder })).toMatchObject({ code: 2, out: '' })
  })

  test('reports every file it can read, and then those it cannot', async () => {
    const cwd = project({ 'good.yaml': GOOD })
    const { code, out, err } = await sluice(['validate', 'nope.yaml', 'good.yaml', 'none.yaml'], { cwd })
    expect({ code, out }).toEqual({ code: 2, out: 'good.yaml is valid: plan, build\n' })
    expect(err).toMatch(/"nope\.yaml"[\s\S]*"none\.yaml"/)
  })

  test('warns of commands that the settings do not allow, with exit code 0', async () => {
    const gate = '    post_gates: [{ name: lint, check: { type: shell, command: "true" } }]\n'
    const cwd = project({ 'good.yaml': `${GOOD}${gate}`, 'sluice.yaml': 'version: 1\n' })
    const { code, out } = await sluice(['validate', 'good.yaml'], { cwd })
    expect(code).toBe(0)
    expect(out).toMatch(
      /is valid: plan, build\n {2}warning {2}blocks\[1\]\.post_gates\[0\]\.check {2}gate_cannot_run {2}/,
    )
    const [file] = JSON.parse((await sluice(['validate', 'good.yaml', '--json'], { cwd })).out)
    expect(file).toMatchObject({ valid: true, errors: [], warnings: [{ code: 'gate_cannot_run' }] })
  })

  test('--ndjson answers a line each, in order, also for lines it cannot read', async () => {
    const lines = [
      JSON.stringify({ id: 'a', yaml: GOOD }),
      'garbage',
      JSON.stringify({ id: 7, yaml: BAD }),
      '',
      JSON.stringify({ id: 'no yaml' }),
      JSON.stringify({ id: 'b', yaml: 'blocks: [' }),
    ]
    const { code, out } = await sluice(['validate', '--ndjson'], { stdin: `${lines.join('\n')}\n` })
    expect(code).toBe(0)
    const place = { line: 7, column: expect.any(Number), hint: expect.any(String) }
    expect(jsonLines(out)).toEqual([
      { id: 'a', valid: true, errors: [], order: ['plan', 'build'] },
      { id: null, valid: false, order: [], errors: [expect.objectContaining({ code: 'malformed_line', line: null })] },
      {
        id: 7,
        valid: false,
        order: [],
        errors: [expect.objectContaining({ path: 'blocks[1].inputs.plan.from', ...place })],
      },
      { id: 'no yaml', valid: false, order: [], errors: [expect.objectContaining({ code: 'malformed_line' })] },
      { id: 'b', valid: false, order: [], errors: [expect.objectContaining({ code: 'yaml_syntax' })] },
    ])
  })
})

describe('sluice compile', () => {
  test('prints the state machine', async () => {
    const cwd = project({ 'good.yaml': GOOD })
    const { code, out } = await sluice(['compile', 'good.yaml'], { cwd })
    expect(code).toBe(0)
    const machine = JSON.parse(out)
    expect(machine).toMatchObject({ QueryLanguage: 'JSONata', StartAt: 'plan' })
    expect(Object.keys(machine.States)).toEqual(
      expect.arrayContaining(['plan', 'build', '_settle', '_done', '_failed']),
    )
    const { out: text } = await sluice(['compile', 'good.yaml', '--json'], { cwd })
    expect(JSON.parse(text)).toEqual(machine)
    expect(text.trimEnd()).not.toContain('\n')
  })

  test('prints the parts of a document too large for one machine', async () => {
    const block = (v: number) =>
      `  - { id: b${v}, outputs: { x: string }, agent: { provider: local, model: m, prompt: p }, retry: { max_attempts: 10 } }`
    const cwd = project({ 'wide.yaml': `blocks:\n${Array.from({ length: 320 }, (_, v) => block(v)).join('\n')}\n` })
    const whole = JSON.parse((await sluice(['compile', 'wide.yaml'], { cwd })).out)
    expect(JSON.stringify(whole)).toContain('{Part1}')
    const part = JSON.parse((await sluice(['compile', 'wide.yaml', '--part', '1'], { cwd })).out)
    expect(part).toMatchObject({ QueryLanguage: 'JSONata', StartAt: '_parallel_2' })
    const { code, err } = await sluice(['compile', 'wide.yaml', '--part', '2'], { cwd })
    expect([code, err]).toEqual([2, expect.stringContaining('has parts 1 to 1')])
  })

  test('refuses a document with errors, all of them on stderr', async () => {
    const cwd = project({ 'bad.yaml': BAD })
    const { code, out, err } = await sluice(['compile', 'bad.yaml'], { cwd })
    expect({ code, out }).toEqual({ code: 100, out: '' })
    expect(err).toMatch(/invalid_dag[\s\S]*plan\.pan/)
  })
})

describe('sluice gates', () => {
  test('list shows every type and what it takes', async () => {
    const { code, out } = await sluice(['gates', 'list', '--json'])
    expect(code).toBe(0)
    const types = JSON.parse(out)
    expect(types.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(['contains', 'json_schema', 'http', 'shell', 'semantic_review', 'expr']),
    )
    expect(types[0]).toMatchObject({ type: 'contains', params: { required: ['port', 'values'] } })
  })

  test('list and explain show how checks are negated and composed', async () => {
    const { out: listed } = await sluice(['gates', 'list'])
    expect(listed).toContain('\nat_least of not?\n')
    for (const name of ['not', 'any_of', 'all_of', 'at_least']) {
      const { code, out } = await sluice(['gates', 'explain', name])
      expect([code, out]).toEqual([0, expect.stringContaining('| fail  | unfit | pass  | unfit  | fail   |')])
    }
  })

  test('check --ndjson judges compositions, and replays what was recorded', { tags: ['thorough'] }, async () => {
    const check = {
      any_of: [
        { type: 'not_empty', port: 'a' },
        { type: 'contains', port: 'b', values: ['x'], not: true },
      ],
    }
    const judged = { id: 1, check, outputs: { b: 'y' } }
    const record = { status: 'passed', reason: 'x', facts: {}, input_hash: 'not the one' }
    const wrong = { any_of: [{ not: 1, type: 'not_empty', port: 'a' }] }
    const lines = [judged, { ...judged, recorded: record }, { id: 2, check: wrong }]
    const stdin = lines.map((line) => JSON.stringify(line)).join('\n')
    const { out } = await spawnSluice(['gates', 'check', '--ndjson'], { stdin })
    const reason = '1 of 2 hold, at least 1 wanted: does not hold, as wanted: must contain "x"'
    expect(jsonLines(out)).toEqual([
      { id: 1, passed: true, status: 'passed', reason },
      { id: 1, passed: true, status: 'passed', reason, replay: 'other_input' },
      {
        id: 2,
        passed: false,
        status: 'error',
        reason: expect.stringContaining('"any_of.0.not" must be true or false'),
      },
    ])
  })

  test('check --ndjson judges a line each, json_schema in the isolate too, and fails closed', {
    tags: ['thorough'],
  }, async () => {
    const schema = { type: 'object', required: ['n'] }
    const lines = [
      { id: 'long', check: { type: 'min_length', port: 'text', min: 3 }, outputs: { text: 'abcd' } },
      { id: 'short', check: { type: 'min_length', port: 'text', min: 9 }, outputs: { text: 'abcd' } },
      { id: 'fits', check: { type: 'json_schema', port: 'data', schema }, inputs: { data: { n: 1 } } },
      { id: 'misfits', check: { type: 'json_schema', port: 'data', schema }, outputs: { data: {} } },
      { id: 'dear', check: { type: 'cost', max: 1 }, measured: { cost_usd: 2, latency_ms: 5 } },
      { id: 'unknown', check: { type: 'min_lenght', port: 'text', min: 3 } },
      { check: 'no id' },
    ]
    const stdin = lines.map((line) => JSON.stringify(line)).join('\n')
    const { code, out } = await spawnSluice(['gates', 'check', '--ndjson'], { stdin })
    expect(code).toBe(0)
    const reason = expect.any(String)
    expect(jsonLines(out)).toEqual([
      { id: 'long', passed: true, status: 'passed', reason },
      { id: 'short', passed: false, status: 'failed', reason },
      { id: 'fits', passed: true, status: 'passed', reason },
      { id: 'misfits', passed: false, status: 'failed', reason },
      { id: 'dear', passed: false, status: 'failed', reason },
      { id: 'unknown', passed: false, status: 'error', reason: expect.stringMatching(/Did you mean "min_length"\?/) },
      { id: null, passed: false, status: 'error', reason: expect.stringMatching(/Cannot read line 7/) },
    ])
  })
})

describe('sluice', () => {
  test.each([
    ['nothing', []],
    ['an unknown command', ['fly']],
    ['an unknown option', ['run', 'list', '--fly']],
    ['no run id', ['run', 'status']],
    ['a bad port', ['start', '--port', '70000']],
    ['a bad URL', ['run', 'list', '--url', 'ftp://x']],
    ['nothing to start', ['run', 'start']],
    ['two things to start', ['run', 'start', 'a', '--example', 'b']],
    ['a DAG file that is not there', ['run', 'start', './nope.yaml']],
    ['a state no run has', ['run', 'list', '--status', 'done']],
    ['a limit out of range', ['run', 'list', '--limit', '501']],
    ['a deadline that is none', ['run', 'start', 'x', '--deadline-sec', 'soon']],
    ['help of a command there is not', ['help', 'run', 'fly']],
    ['a bad input', ['run', 'start', '--example', 'basic', '--input', 'goal']],
  ])('answers exit code 2 for %s', async (_, args) => {
    const { code, err } = await sluice(args)
    expect(code).toBe(2)
    expect(err).not.toBe('')
  })

  test('says `sluice start` where no server is, with exit code 1', async () => {
    for (const command of ['list', 'status', 'watch', 'events', 'approve', 'reject', 'stop']) {
      // Off a terminal a decision is made with --yes only.
      const sure = ['approve', 'reject'].includes(command) ? ['--yes'] : []
      const args = command === 'list' ? [] : ['run_00000000000000000000000000', ...sure]
      const { code, err } = await sluice(['run', command, ...args, '--url', 'http://127.0.0.1:9'])
      expect({ command, code }).toEqual({ command, code: 1 })
      expect(err).toMatch(/no_server/)
      expect(err).toMatch(/`sluice start`/)
    }
  })

  test('prints help with exit code 0', async () => {
    expect(await sluice(['--help'])).toMatchObject({ code: 0, err: '' })
    const deep = await sluice(['help', 'run', 'start'])
    expect(deep).toMatchObject({ code: 0, err: '' })
    expect(deep.out).toMatch(/^Usage: sluice run start/)
    expect(deep.out).not.toMatch(/default: \[\]/)
  })
})

describe('sluice run start', () => {
  const BIN = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))
  const type = (cwd: string, args: readonly string[], ...types: readonly (readonly [string, string])[]) =>
    typeOnTerminal([process.execPath, BIN, ...args], { cwd, env: { SLUICE_URL: '', SLUICE_TOKEN: '' }, types })

  test('starts an example with nothing but its name, and says what it took', async () => {
    const { code, out, err } = await sluice(['run', 'start', '--example', 'basic'], { cwd: project({}) })
    expect(err).toBe(
      'Taken as the example has it: goal "Count the words of a text". --input KEY=VALUE gives another.\n',
    )
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/Run run_\w+ completed/) })
  })

  test('says nothing of what was given', { tags: ['thorough'] }, async () => {
    const given = await sluice(['run', 'start', '--example', 'basic', '--input', 'goal=x'], { cwd: project({}) })
    expect(given).toMatchObject({ code: 0, err: '' })
  })

  test('says off a terminal what a document needs', { tags: ['thorough'] }, async () => {
    const { code, err } = await sluice(['run', 'start', 'good.yaml'], { cwd: project({ 'good.yaml': GOOD }) })
    expect(code).toBe(1)
    expect(err).toContain('Required input "goal" has no value')
  })

  test.skipIf(noTerminal() !== undefined)(
    'asks on a terminal for what a document needs, and nothing else',
    async () => {
      const inputs =
        'inputs:\n  rows: { type: number, description: How many }\n  tone: { type: string, default: dry }\n  goal: string\n'
      const cwd = project({ 'good.yaml': inputs + GOOD })
      const started = await type(
        cwd,
        ['run', 'start', 'good.yaml'],
        ['rows (How many): ', 'few\r'],
        ['rows (How many): ', '3\r'],
        ['goal: ', '\r'],
        ['goal: ', 'a parser\r'],
      )
      expect(started.shown).toContain('declares "rows" as a number')
      expect(started.shown).not.toContain('tone')
      expect([started.code, started.shown]).toEqual([0, expect.stringMatching(/Run run_\w+ completed/)])
    },
  )

  test.skipIf(noTerminal() !== undefined)('starts nothing where the asked go', { tags: ['thorough'] }, async () => {
    const cwd = project({
      'good.yaml': `inputs:\n  rows: { type: number, description: How many }\n  goal: string\n${GOOD}`,
    })
    const left = await type(cwd, ['run', 'start', 'good.yaml'], ['rows (How many): ', CTRL_D])
    expect([left.code, left.shown]).toEqual([2, expect.stringContaining('Nothing is started: input "rows"')])
  })
})
