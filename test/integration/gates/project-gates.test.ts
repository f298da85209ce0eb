import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderModules } from '../../../infra/modules/project-gates.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { firstDaily } from '../../how-much.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** Gates of a project in a folder outside this repository, judged by a whole local place. */
const NAMES = (more = '') => `
import { defineGate } from 'sluice'
import * as z from 'zod'
import { small } from './small'
export default defineGate({
  params: z.strictObject({ port: z.string(), names: z.array(z.string()).min(1), most: z.number().default(0) }),
  reads: ({ port }) => [port],
  check({ params, port }) {
    const found = params.names.filter((name) => small(port(params.port)).includes(small(name)))
    return { passed: found.length <= params.most, reason: found.length + ' found${more}', evidence: { found } }
  },
})
`
const SMALL = 'export const small = (value: unknown): string => String(value).toLowerCase()\n'
const ALL = `
import { defineGate } from 'sluice'
import * as z from 'zod'
export default defineGate({
  params: z.strictObject({}),
  check: ({ inputs, outputs }) => ({ passed: true, reason: Object.keys(inputs) + ' / ' + Object.keys(outputs) }),
})
`
const TASK = `
import { defineGate } from 'sluice'
import * as z from 'zod'
export default defineGate({
  params: z.strictObject({ words: z.int() }),
  check: ({ params, port }) => ({ passed: String(port('notes')).split(' ').length >= params.words, reason: 'counted' }),
})
`

let root: string
let place: TestPlace
let version: string

function write(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true })
  writeFileSync(join(root, name), text)
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-project-'))
  write('gates/names.ts', NAMES())
  write('gates/small.ts', SMALL)
  write('gates/all.ts', ALL)
  write('gates/task.ts', TASK)
  place = await openTestPlace(
    {},
    {
      project_dir: root,
      gates: [
        { name: 'words', on: { to: 'REVIEW' }, check: { type: './gates/task.ts', words: 3 }, error: 'Write more' },
      ],
      pipelines: { coding: { dag: 'coding', gates: ['words'] } },
    },
  )
  const found = await folderModules(root).gate('./gates/names.ts')
  version = found.ok ? found.hash : ''
})
afterAll(async () => {
  await place.close()
  rmSync(root, { recursive: true, force: true })
})

const block = (check: object, more: object = {}) => ({
  name: 'reply',
  inputs: { notes: { type: 'string' } },
  blocks: [
    {
      id: 'draft',
      inputs: { notes: 'string' },
      outputs: { reply: 'string' },
      agent: { provider: 'local', model: 'outline' },
      post_gates: [{ name: 'fair', check, on_fail: 'fail' }],
      ...more,
    },
  ],
})
const FAIR = { type: './gates/names.ts', port: 'reply', names: ['Acme'] }
const inputs = (notes: string) => ({ inputs: { notes } })
const verdicts = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'block:gate' ? [event.data] : []))
const errorsOf = async (dag: unknown) =>
  (await place.call('validate-dag', '', { dag })).json as unknown as {
    valid: boolean
    errors: { code: string; message: string; line?: number }[]
  }

describe('a gate of a project', () => {
  test('judges, and its verdict says by which code; the run keeps that code and verifies by it', async () => {
    const id = await place.start(block(FAIR), inputs('All is well.'))
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(verdicts(events)).toEqual([
      expect.objectContaining({
        gate: 'fair',
        type: './gates/names.ts',
        status: 'passed',
        reason: '0 found',
        version,
        facts: { found: [] },
      }),
    ])
    const { json } = await place.call('verify-run', id)
    expect(json).toMatchObject({ ok: true })
    const meta = await place.place.world.runs.meta({ tenant: 'main', run_id: id })
    expect(await place.place.world.objects.has('main', `objstore://main/${version}`)).toBe(true)
    expect(meta?.dag_hash).toMatch(/^[0-9a-f]{64}$/)
  })

  test('fails a block with its reason, negated and composed like any other', async () => {
    const failed = await place.ended(await place.start(block(FAIR), inputs('Acme is bad.')))
    expect(failed.at(-1)?.type).toBe('run:failed')
    expect(verdicts(failed)[0]).toMatchObject({ status: 'failed', reason: '1 found', facts: { found: ['Acme'] } })
    const negated = await place.ended(await place.start(block({ ...FAIR, not: true }), inputs('Acme is bad.')))
    expect(verdicts(negated)[0]).toMatchObject({ status: 'passed', version })
    const both = { all_of: [FAIR, { type: './gates/all.ts' }, { type: 'not_empty', port: 'reply' }] }
    const composed = await place.ended(await place.start(block(both), inputs('Fine.')))
    const all = await folderModules(root).gate('./gates/all.ts')
    expect(verdicts(composed)[0]).toMatchObject({
      type: 'all_of',
      status: 'passed',
      version: sha256(`${version} ${all.ok ? all.hash : ''}`),
    })
  })

  test('stands before the work, and over the items of a list', async () => {
    const items = block(FAIR, {
      inputs: { lines: 'json' },
      foreach: {
        items: ['Acme a', 'b'],
        as: 'line',
        tolerate: 1,
        item_gates: [{ name: 'each', check: { ...FAIR, port: 'line' }, on_fail: 'fail' }],
      },
      post_gates: [],
      outputs: { reply: 'string' },
    })
    const pre = block(FAIR, { pre_gates: [{ name: 'before', check: { type: './gates/all.ts' } }], post_gates: [] })
    const events = await place.ended(await place.start(pre, inputs('x')))
    expect(verdicts(events)).toEqual([expect.objectContaining({ phase: 'pre', reason: 'notes /' })])
    const each = await place.start({ ...items, inputs: { lines: { type: 'json', default: [] } } })
    expect(
      verdicts(await place.ended(each))
        .map(({ status }) => status)
        .toSorted(),
    ).toEqual(['failed', 'passed'])
  })

  test('stands before the moves of tasks', async () => {
    const move = (id: string, to: string, from?: string) => ({
      id,
      mode: 'deterministic',
      deterministic: { handler: 'move-task', config: { to } },
      inputs: { notes: 'string', ...(from && { before: { from: `${from}.status` } }) },
      outputs: { status: 'string' },
    })
    const dag = {
      name: 'coding',
      inputs: { notes: 'string' },
      blocks: [move('a', 'PENDING'), move('b', 'IN_PROGRESS', 'a'), move('c', 'REVIEW', 'b')],
    }
    const few = await place.ended(await place.start(dag, inputs('too few')))
    expect(verdicts(few).at(-1)).toMatchObject({ gate: 'words', status: 'failed', type: './gates/task.ts' })
    const enough = await place.ended(await place.start(dag, inputs('these are enough words')))
    expect(verdicts(enough).at(-1)).toMatchObject({
      gate: 'words',
      status: 'passed',
      version: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test('is the one the run began with, after a restart and when it is retried; the next run takes the changed file', async () => {
    const asks = { ...block(FAIR, { approval: { required: true, prompt: 'Go on?' } }) }
    const id = await place.start(asks, inputs('Acme'))
    await place.until(id, ({ type }) => type === 'approval:requested')
    write('gates/names.ts', NAMES(' by the second'))
    await place.kill()
    const [approval] = await place.place.world.runs.approvals({ tenant: 'main', run_id: id })
    await place.call('decide-approval', id, {
      approval_id: approval?.id,
      decision: 'approve',
      digest: approval?.digest,
    })
    const events = await place.ended(id)
    expect(verdicts(events)[0]).toMatchObject({ status: 'failed', reason: '1 found', version })
    const { json } = await place.call('retry-run', id, {})
    const again = (json as unknown as { run_id: string }).run_id
    await place.until(again, ({ type }) => type === 'approval:requested')
    const [second] = await place.place.world.runs.approvals({ tenant: 'main', run_id: again })
    await place.call('decide-approval', again, { approval_id: second?.id, decision: 'approve', digest: second?.digest })
    expect(verdicts(await place.ended(again))[0]).toMatchObject({ reason: '1 found', version })
    const fresh = verdicts(await place.ended(await place.start(block(FAIR), inputs('Acme'))))[0]
    expect(fresh).toMatchObject({ reason: '1 found by the second' })
    expect(fresh?.version).not.toBe(version)
    expect((await place.call('verify-run', id)).json).toMatchObject({ ok: true })
    write('gates/names.ts', NAMES())
  })

  for (const { tags, rows } of firstDaily<[string, string, string]>(5, [
    ['a parameter nobody knows', '{ type: ./gates/names.ts, port: reply, names: [a], nmaes: [a] }', 'unknown_key'],
    ['a port that is not there', '{ type: ./gates/names.ts, port: repl, names: [a] }', 'unknown_gate_port'],
    ['a file that is not there', '{ type: ./gates/name.ts, port: reply, names: [a] }', 'gate_module_missing'],
    ['a path that leads out', '{ type: ./gates/../../names.ts, port: reply }', 'bad_gate_module'],
    [
      'another version',
      `{ type: ./gates/names.ts, port: reply, names: [a], module: { version: ${'0'.repeat(64)} } }`,
      'invalid_value',
    ],
    ['a parameter that is missing', '{ type: ./gates/names.ts, port: reply }', 'missing_key'],
    ['a parameter of another type', '{ type: ./gates/names.ts, port: reply, names: a }', 'invalid_value'],
    ['an absolute path', '{ type: /etc/names.ts }', 'bad_gate_module'],
    ['another ending', '{ type: ./gates/names.py }', 'bad_gate_module'],
    ['no dot at the beginning', '{ type: gates/names.ts, port: reply, names: [a] }', 'bad_gate_module'],
  ]))
    test.each(rows)('refuses %s with its place', { tags }, async (_, check, code) => {
      const yaml = `blocks:\n  - id: draft\n    outputs: { reply: string }\n    agent: { provider: local, model: outline, prompt: x }\n    post_gates:\n      - { name: fair, check: ${check} }\n`
      const { valid, errors } = await errorsOf(yaml)
      expect(valid).toBe(false)
      expect(errors.map((error) => error.code)).toContain(code)
      expect(errors[0]).toMatchObject({ line: 6 })
    })

  for (const { tags, rows } of firstDaily<[string, string, RegExp]>(5, [
    ['does not parse', 'export default defineGate({', /cannot be taken: .*broken\.ts:1:\d+/],
    [
      'imports Node',
      "import { readFileSync } from 'node:fs'\nexport default readFileSync",
      /imports "node:fs", and a gate is pure/,
    ],
    ['is no gate', 'export default { check() {} }', /its default export was not made with defineGate/],
    [
      'reads its parameters otherwise each time',
      "import { defineGate } from 'sluice'\nimport * as z from 'zod'\nexport default defineGate({ params: z.strictObject({ a: z.string().transform((a) => a + '!') }), check: () => ({ passed: true, reason: 'x' }) })",
      /otherwise the second time/,
    ],
    ['throws when it is loaded', "throw new Error('no luck')", /its module cannot be loaded: no luck/],
    ['imports what is computed of Node', "export default require('node:net')", /imports "node:net"/],
    ['never ends when it is loaded', 'for (;;);', /it ran longer than/],
  ]))
    test.each(rows)('whose module %s is refused in words', { tags }, async (_, text, words) => {
      write('gates/broken.ts', text)
      const { errors } = await errorsOf(block({ type: './gates/broken.ts', a: 'b' }))
      expect(errors.map(({ message }) => message).join()).toMatch(words)
    })

  test('behind a link that leads out of the project is refused', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'sluice-outside-'))
    writeFileSync(join(outside, 'gate.ts'), ALL)
    symlinkSync(join(outside, 'gate.ts'), join(root, 'gates/linked.ts'))
    const { errors } = await errorsOf(block({ type: './gates/linked.ts' }))
    expect(errors.map(({ code }) => code)).toEqual(['gate_module_missing'])
    expect(errors[0]?.message).toMatch(/leads out of the folder/)
    rmSync(outside, { recursive: true })
  })

  test('that breaks is an error of its block, never a pass', async () => {
    write(
      'gates/odd.ts',
      "import { defineGate } from 'sluice'\nimport * as z from 'zod'\nexport default defineGate({ params: z.strictObject({}), check: () => { throw new Error('odd') } })",
    )
    const events = await place.ended(await place.start(block({ type: './gates/odd.ts', not: true }), inputs('x')))
    expect(verdicts(events)[0]).toMatchObject({ status: 'error', reason: 'the gate broke off: odd' })
    expect(events.at(-1)?.type).toBe('run:failed')
  })
})
