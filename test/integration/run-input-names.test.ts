import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readStoredRun } from '../../functions/record/stored-run.ts'
import type { GateUse } from '../../shared/dag/dag.ts'
import { judgeGate } from '../../shared/gates/judge.ts'
import { INVARIANTS } from '../../shared/invariants/check-run.ts'
import type { RunParts } from '../../shared/invariants/invariant.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { firstDaily } from '../how-much.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

/** Every name some handler, gate or fan-out looks for, as a run input that fits none of them. */
const NAMES = [
  ...['file', 'path', 'body', 'table', 'columns', 'content', 'where', 'input', 'text', 'note', 'record', 'model'],
  ...['rows', 'name', 'id', 'key', 'payload', 'event', 'headers', 'query', 'config', 'files', 'artifacts', 'status'],
  ...['contract', 'claimed_status', 'sources', 'assigned', 'notes', 'item', 'value', 'content_from', 'verification'],
] as const
const HOSTILE = Object.fromEntries(NAMES.map((name) => [name, { type: 'json', default: { taken: name } }]))

const ROWS = Array.from({ length: 40 }, (_, i) => ({
  age: i,
  group: i % 2 === 0 ? 'a' : 'b',
  left: i > 20 ? 'y' : 'n',
}))

const OPTIONAL = { type: 'string', required: false }

interface Work {
  readonly block: Readonly<Record<string, unknown>>
  readonly context?: Readonly<Record<string, unknown>>
}

const work = (handler: string, config: object, inputs: object, outputs: object): Work['block'] => ({
  id: 'work',
  mode: 'deterministic',
  deterministic: { handler, config },
  inputs,
  outputs,
})

/** One block a handler, its input under a name that is not the handler's own. */
const CASES: Readonly<Record<string, Work>> = {
  'read-input': { block: work('read-input', { path: 'notes.md' }, {}, { said: 'string' }) },
  'read-table': { block: work('read-table', { path: 'rows.csv' }, {}, { found: 'json' }) },
  'read-table of a text': {
    block: work('read-table', {}, { essay: 'string' }, { found: 'json' }),
    context: { essay: 'a,b\n1,2\n' },
  },
  'write-table': {
    block: work('write-table', { name: 'out.csv' }, { list: 'json' }, { ref: 'artifact' }),
    context: { list: ROWS },
  },
  'send-event': {
    block: work('send-event', { name: 'said' }, { essay: 'string' }, { woken: 'number' }),
    context: { essay: 'mine' },
  },
  'write-artifact': {
    block: work('write-artifact', { name: 'out.md' }, { essay: 'string' }, { ref: 'artifact' }),
    context: { essay: 'mine' },
  },
  'table-stats': { block: work('table-stats', {}, { rows: 'json' }, { stats: 'json' }), context: { rows: ROWS } },
  'classify-table': {
    block: work('classify-table', { label: 'left', positive: 'y' }, { rows: 'json' }, { metrics: 'json' }),
    context: { rows: ROWS },
  },
  'builtin:write-file': {
    block: work(
      'builtin:write-file',
      { path_from: 'where', default_path_template: 'out.txt' },
      { essay: 'string' },
      {
        written: 'string',
        file_name: 'string',
      },
    ),
    context: { essay: 'mine' },
  },
  transform: {
    block: work('transform', { expression: '$string(inputs.essay) & "!"' }, { essay: 'string' }, { said: 'string' }),
    context: { essay: 'mine' },
  },
  pass: {
    block: work('pass', {}, { essay: 'string' }, { essay: 'string', note: { type: 'json', required: false } }),
    context: { essay: 'mine' },
  },
  'verify-claims': { block: work('verify-claims', {}, {}, { trust_score: 'number', parts: 'json' }) },
  'move-task': {
    block: work('move-task', { to: 'PENDING' }, {}, { status: 'string', assigned: OPTIONAL, notes: OPTIONAL }),
  },
}

let open: TestPlace
const seen: Readonly<Record<string, unknown>>[] = []
beforeAll(async () => {
  const probe = provider(({ inputs, prompt }) => {
    seen.push(inputs)
    return prompt
  })
  open = await openTestPlace({ providers: { probe } }, { pipelines: { tasks: { dag: 'dag', gates: [] } } })
  writeFileSync(join(open.folder, 'notes.md'), 'what is written')
  writeFileSync(join(open.folder, 'rows.csv'), 'a,b\n1,2\n')
})
afterAll(() => open.close())

async function run(block: Work['block'], { hostile, context = {} }: { hostile: boolean } & Pick<Work, 'context'>) {
  const id = await open.start({ ...(hostile ? { inputs: HOSTILE } : {}), blocks: [block] }, { context })
  const events = await open.ended(id)
  expect((await open.call('verify-run', id)).json).toMatchObject({ ok: true })
  return { id, events, made: await madeBy(id, events) }
}

/** The values of every output, what became artifacts, and how the run ended. */
async function madeBy(id: string, events: readonly RunEvent[]) {
  const { runs } = open.place.world
  const artifacts = await runs.artifacts({ tenant: 'main', run_id: id })
  const outputs = events.flatMap((event) => (event.type === 'block:output' ? [event.data.outputs] : []))
  return { end: events.at(-1)?.type, outputs, artifacts: artifacts.map(({ name, sha256 }) => [name, sha256]) }
}

/** Those that differ most in where they look: at a text, a table, a path, an artifact, a task. */
const FIRST = [
  'transform',
  'read-table of a text',
  'classify-table',
  'write-artifact',
  'builtin:write-file',
  'move-task',
]
const ORDERED = Object.entries(CASES).toSorted(([a], [b]) => rank(a) - rank(b))

function rank(name: string): number {
  return FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length
}

describe('a run input whose name a handler looks for', () => {
  for (const { tags, rows } of firstDaily(FIRST.length, ORDERED))
    test.each(rows)('changes nothing of what %s makes', { tags }, async (_, { block, context = {} }) => {
      const plain = await run(block, { hostile: false, context })
      expect(plain.made.end).toBe('run:completed')
      expect((await run(block, { hostile: true, context })).made).toEqual(plain.made)
    })

  for (const { tags, rows } of firstDaily(3, ORDERED))
    test.each(rows)('changes nothing of what items of %s make', { tags }, async (_, { block, context = {} }) => {
      const { inputs, ...rest } = block
      const [port] = Object.keys(inputs as object)
      if (port === undefined) return
      const each = { ...rest, inputs: {}, foreach: { items: [context[port], context[port]], as: port } }
      const plain = await run(each, { hostile: false })
      expect(plain.made.end).toBe('run:completed')
      expect((await run(each, { hostile: true })).made).toEqual(plain.made)
    })

  test('is seen by the expression of a transform', async () => {
    const block = work(
      'transform',
      { expression: 'inputs.note.taken & inputs.essay' },
      { essay: 'string' },
      { o: 'string' },
    )
    const { events } = await run(block, { hostile: true, context: { essay: '!' } })
    const [ref] = events.flatMap((event) => (event.type === 'block:output' ? [event.data.outputs.o?.ref ?? ''] : []))
    expect(Buffer.from(await open.place.world.objects.get('main', ref ?? '')).toString()).toBe('"note!"')
  })
})

describe('a run input beside an agent', () => {
  const agent = { provider: 'probe', model: 'm', prompt: 'Look at the text and the note: {{inputs.essay}}' }
  const ai = { id: 'work', agent, inputs: { essay: 'string' }, outputs: { said: 'string' } }
  const context = { essay: 'mine' }

  test('is given to it where a template names it, and not where its name is a word', async () => {
    seen.length = 0
    await run(ai, { hostile: true, context })
    await run({ ...ai, agent: { ...agent, system: '{{inputs.note.taken}}' } }, { hostile: true, context })
    expect(seen).toEqual([context, { ...context, note: { taken: 'note' } }])
  })

  test('is not the item, nor does an item of its name fail to be one', async () => {
    seen.length = 0
    const each = { ...ai, inputs: {}, foreach: { items: ['a', 'b'], as: 'item', max_concurrency: 1 } }
    await run({ ...each, agent: { ...agent, prompt: '{{inputs.item}}' } }, { hostile: true })
    expect(seen).toEqual([{ item: 'a' }, { item: 'b' }])
  })
})

describe('a gate on an output that is not there', () => {
  const gate: GateUse = { name: 'there', check: { type: 'not_empty', port: 'note' }, on_fail: 'fail' }
  const block = work('pass', {}, { essay: 'string' }, { essay: 'string', note: { type: 'json', required: false } })
  const given = { hostile: true, context: { essay: 'mine' } } as const

  test('does not see the run input of its name', async () => {
    const { made } = await run({ ...block, post_gates: [gate] }, given)
    expect(made.end).toBe('run:failed')
  })

  test('saw it in earlier versions, whose verdicts still come out again', async () => {
    const { id, events } = await run({ ...block, post_gates: [{ ...gate, on_fail: 'warn' }] }, given)
    const key = { tenant: 'main', run_id: id }
    const meta = await open.place.world.runs.meta(key)
    if (meta === undefined) throw new Error('no META')
    const { stored } = await readStoredRun(open.place.world, key, meta)
    const [again] = INVARIANTS.filter(({ n }) => n === 12)
    const check = (log: readonly RunEvent[]) => again?.check({ ...stored, events: log } as RunParts)
    expect(await check(events)).toEqual([])
    const facts = { inputs: { ...valuesOf(HOSTILE), essay: 'mine' }, outputs: { essay: 'mine' }, measured }
    const {
      passed: _,
      name: __,
      ...seen
    } = await judgeGate({ ...gate, on_fail: 'warn' }, facts, open.place.world, () => 0)
    expect(seen.status).toBe('passed')
    const before = events.map((event) =>
      event.type === 'block:gate' ? { ...event, data: { ...event.data, ...seen } } : event,
    )
    expect(await check(before)).toEqual([])
    const other = { ...seen, input_hash: '0'.repeat(64) }
    const wrong = events.map((event) =>
      event.type === 'block:gate' ? { ...event, data: { ...event.data, ...other } } : event,
    )
    expect(await check(wrong)).toHaveLength(1)
  })

  const measured = { cost_usd: null, latency_ms: null }
  const valuesOf = (inputs: typeof HOSTILE) =>
    Object.fromEntries(Object.entries(inputs).map(([name, { default: value }]) => [name, value]))
})
