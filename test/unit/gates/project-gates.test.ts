import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'
import { GATE_LIMITS, isModulePath, modulePathProblem } from '../../../shared/gates/gate-module.ts'
import { judgeGate, replayVerdict } from '../../../shared/gates/judge.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { gateKinds, moduleChecksIn, type ProjectGates, readProjectGates } from '../../../shared/gates/project-gates.ts'
import type { Isolate, Isolated } from '../../../shared/ports/isolate.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import type { Json } from '../../../shared/text/json.ts'

/** Gates of a project between the document and the isolate: the isolate is one that answers what a test says. */
const VERSION = 'a'.repeat(64)
const TYPE = './gates/fair.ts'

const answering = (answer: Json | Isolated): Isolate => ({
  run: async () =>
    typeof answer === 'object' && answer !== null && 'ok' in answer
      ? (answer as Isolated)
      : { ok: true, value: answer as Json },
})

function project(given: unknown, answer: Json | Isolated): Promise<ProjectGates> {
  const gate = async () => ({ ok: true, text: 'script', hash: VERSION }) as const
  return readProjectGates(given, { gate }, answering(answer))
}

const document = (check: object) => ({
  name: 'd',
  blocks: [
    {
      id: 'a',
      outputs: { t: 'string' },
      agent: { provider: 'local', model: 'm', prompt: 'x' },
      post_gates: [{ name: 'g', check }],
    },
  ],
})

describe('the path of a module', () => {
  test.each(['./gates/a.ts', './a.js', './gates/deep-er/b_c.d.mjs'])('may be %s', (path) => {
    expect([isModulePath(path), modulePathProblem(path)]).toEqual([true, undefined])
  })

  test.each([
    '../a.ts',
    './../a.ts',
    './a/../../b.ts',
    '/a.ts',
    'a.ts',
    './a.tsx',
    './a.py',
    './.a/b.ts',
    './a b.ts',
    './a\\b.ts',
    './a//b.ts',
    './node:fs.ts',
    `./${'a'.repeat(GATE_LIMITS.path_characters)}.ts`,
  ])('may not be %s, and is none of our types either', (path) => {
    expect(isModulePath(path)).toBe(true)
    expect(modulePathProblem(path)?.text).toMatch(/\w/)
    expect(gateKinds().refusal(path)?.code).toBe('bad_gate_module')
  })

  test.each(['contains', 'no_such', 1, null, undefined])('is not %j', (type) => {
    expect(isModulePath(type)).toBe(false)
  })
})

describe('moduleChecksIn()', () => {
  test('finds each once, wherever it stands, without what every check has for itself', () => {
    const check = { type: TYPE, port: 't' }
    const given = [
      document({ any_of: [check, { ...check, not: true }, { type: 'not_empty', port: 't' }] }),
      [{ check }],
    ]
    expect(moduleChecksIn(given)).toEqual([{ path: TYPE, params: { port: 't' } }])
  })

  test('takes no more modules and checks than a document may have', () => {
    const many = Array.from({ length: 1_000 }, (_, n) => ({ type: `./g/${n % 50}.ts`, n }))
    const found = moduleChecksIn(many)
    expect(new Set(found.map(({ path }) => path)).size).toBe(GATE_LIMITS.modules)
    expect(found.length).toBe(GATE_LIMITS.checks)
  })
})

describe('a document with a gate of the project', () => {
  const KNOWN = { known: ['port', 'most'], params: { port: 't', most: 3 }, reads: ['t'] }

  test('is read with the parameters as the module reads them, and its version; reading that again changes nothing', async () => {
    const first = document({ type: TYPE, port: 't' })
    const read = parseDag(first, { project: await project(first, KNOWN) })
    if (!read.ok) throw new Error(JSON.stringify(read.errors))
    expect(read.dag.blocks[0]?.post_gates[0]?.check).toEqual({
      type: TYPE,
      port: 't',
      most: 3,
      module: { version: VERSION, reads: ['t'] },
    })
    const second = document(read.dag.blocks[0]?.post_gates[0]?.check ?? {})
    const again = parseDag(second, { project: await project(second, KNOWN) })
    expect(again.ok && again.dag_hash).toBe(read.dag_hash)
  })

  test('is another document with another version of the module', async () => {
    const given = document({ type: TYPE, port: 't' })
    const one = parseDag(given, { project: await project(given, KNOWN) })
    const gate = async () => ({ ok: true, text: 'other', hash: 'b'.repeat(64) }) as const
    const other = parseDag(given, { project: await readProjectGates(given, { gate }, answering(KNOWN)) })
    expect(one.ok && other.ok && one.dag_hash !== other.dag_hash).toBe(true)
  })

  test('is refused where no project is at hand', () => {
    const read = parseDag(document({ type: TYPE, port: 't' }))
    expect(read.ok ? [] : read.errors.map(({ code }) => code)).toEqual(['gate_module_missing'])
  })

  test.each<[string, Json | Isolated]>([
    ['an answer that is none', 7],
    ['issues that are none', { known: [], issues: [] }],
    ['an issue without a message', { known: [], issues: [{ code: 'custom', path: [] }] }],
    ['a module that ran out of time', { ok: false, because: 'time', message: 'it ran longer than 1000 ms' }],
  ])('is refused in words after %s', async (_, answer) => {
    const given = document({ type: TYPE })
    const read = parseDag(given, { project: await project(given, answer) })
    expect(read.ok ? '' : read.errors[0]?.message).toMatch(/fair\.ts cannot be used: /)
  })

  test('is not judged at all when the asking was stopped', async () => {
    const stopped = { ok: false, because: 'stopped', message: 'it was stopped' } as const
    await expect(project(document({ type: TYPE }), stopped)).rejects.toMatchObject({ code: 'isolate_failed' })
  })

  test('may be one of settings: read without the project they are taken, and looked at with it', async () => {
    const yaml = `gates:\n  - { name: g, on: { to: DONE }, check: { type: ${TYPE}, port: t }, error: no }\n`
    expect(parseSettings(yaml, 'sluice.yaml').gates).toHaveLength(1)
    const wrong = { known: ['port'], issues: [{ code: 'unrecognized_keys', path: [], keys: ['prot'], message: 'x' }] }
    const gates = await project(parseSettings(yaml, 'sluice.yaml').gates, wrong)
    expect(() => parseSettings(yaml, 'sluice.yaml', gates)).toThrow(/Unknown parameter "prot"/)
  })
})

describe('a verdict of a gate of the project', () => {
  const facts = { inputs: { i: 1 }, outputs: { t: 'x' }, measured: { cost_usd: null, latency_ms: null } }
  const useOf = (module: Json, more: object = {}) => ({
    name: 'g',
    check: { type: TYPE, ...more, module },
    on_fail: 'fail' as const,
  })
  const ports = (answer: Json | Isolated) => ({ isolate: answering(answer), script: async () => 'script' })

  test('has the version, and the hash of what it was given', async () => {
    const good = ports({ passed: true, reason: 'fine', evidence: { a: 1 } })
    const verdict = await judgeGate(useOf({ version: VERSION }), facts, good, () => 0)
    expect(verdict).toMatchObject({ status: 'passed', version: VERSION, facts: { a: 1 } })
    const other = await judgeGate(useOf({ version: VERSION }), { ...facts, inputs: { i: 2 } }, good, () => 0)
    expect(other.input_hash).not.toBe(verdict.input_hash)
    // It reads one port alone: the others do not count.
    const reads = useOf({ version: VERSION, reads: ['t'] })
    const one = await judgeGate(reads, facts, good, () => 0)
    expect((await judgeGate(reads, { ...facts, inputs: { i: 2 } }, good, () => 0)).input_hash).toBe(one.input_hash)
    expect(await replayVerdict(one, reads, facts, good)).toBe('same')
    expect(await replayVerdict(one, reads, facts, ports({ passed: false, reason: 'no' }))).toBe('different')
  })

  test.each<[string, Json | Isolated]>([
    ['nonsense', 'yes'],
    ['half an answer', { passed: true }],
    ['more than an answer', { passed: true, reason: 'x', more: 1 }],
    ['a fault of the isolate', { ok: false, because: 'memory', message: 'it needed more than 64 MB' }],
  ])('is an error after %s, negated too', async (_, answer) => {
    for (const not of [false, true]) {
      const verdict = await judgeGate(useOf({ version: VERSION }, { not }), facts, ports(answer), () => 0)
      expect(verdict).toMatchObject({ passed: false, status: 'error' })
    }
  })

  test('is an error without its script, and of a check that was never parsed', async () => {
    const none = { isolate: answering(1), script: async () => undefined }
    expect(await judgeGate(useOf({ version: VERSION }), facts, none, () => 0)).toMatchObject({ status: 'error' })
    expect(await judgeGate(useOf('forged'), facts, ports(1), () => 0)).toMatchObject({ status: 'error' })
    const missing = { ...facts, outputs: {} }
    const unfit = await judgeGate(useOf({ version: VERSION, reads: ['t'] }), missing, ports(1), () => 0)
    expect(unfit).toMatchObject({ status: 'failed', reason: 'missing port t' })
  })

  test('of a check no project stands behind is none: parseCheck() refuses it', () => {
    expect(parseCheck({ type: TYPE })).toMatchObject({ ok: false, errors: [{ path: 'type' }] })
  })
})
