import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createLocalMachine, type LocalMachine } from '../../../infra/local/asl/local-machine.ts'
import { createSqliteJournal } from '../../../infra/local/asl/sqlite-journal.ts'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import type { CompiledBlock } from '../../../shared/compile/emit-block.ts'
import type { MachineCaps } from '../../../shared/compile/split-machine.ts'
import type { Json } from '../../../shared/text/json.ts'
import { createVirtualClock } from '../../conformance/virtual-clock.ts'
import { EACH } from '../../how-much.ts'
import { FAMILIES, randomDag, randomFrom } from '../../machines/random-dags.ts'
import { randomDocument } from '../../machines/random-documents.ts'

/** What compiled machines hand to the functions, shown by running their text: stand-ins play the functions' part. */
const INPUT = { v: 1, tenant: 'main', run_id: 'run_a' } as const

interface Call {
  readonly fn: string
  readonly block?: string
  readonly e?: number
  readonly item?: number
  readonly phase?: string
  readonly join?: string
  readonly module?: number
}

class RetryBlock extends Error {
  override readonly name = 'RetryBlock'
}

/** Every block is tried twice, each module goes round `bounces` times, joins are kept by key and epoch. */
async function run(blocks: readonly CompiledBlock[], bounces = 0, caps?: MachineCaps) {
  const { text, parts, modules, joins } = compileDag({ blocks }, caps)
  const calls: Call[] = []
  const asked = new Set<string>()
  const ended = new Map<string, Set<string>>()
  const waiting = new Map<string, { readonly need: number; readonly token: string }>()
  const clock = createVirtualClock()
  const db = new DatabaseSync(':memory:')
  const signal = async (keys: readonly string[], sources: readonly string[]) => {
    for (const key of keys) {
      const done = ended.get(key) ?? new Set()
      for (const source of sources) done.add(source)
      ended.set(key, done)
      const waiter = waiting.get(key)
      if (waiter !== undefined && done.size >= waiter.need) await machine.answer(waiter.token, { ok: {} })
    }
  }
  const inEpoch = (key: string, e: unknown) => (e === undefined || e === 0 ? key : `${key}~${e}`)
  const functions: Readonly<Record<string, (payload: Loose) => Promise<Json>>> = {
    async RunBlock({ block, e, item, phase, joins: signalled = [] }) {
      const first = [block, e, item, phase].join()
      if (phase !== 'items' && !asked.has(first)) {
        asked.add(first)
        throw new RetryBlock(JSON.stringify({ s: 1, ...(e === undefined ? {} : { e }) }))
      }
      if (phase === 'items') return [0, 1, 2]
      if (item === undefined) {
        await signal(
          signalled.map((join) => inEpoch(join, e)),
          [block],
        )
      }
      return { block, ...(e === undefined ? {} : { e }) }
    },
    async WaitJoin({ join, need, token, e }) {
      const key = inEpoch(join, e)
      waiting.set(key, { need, token })
      await signal([key], [])
      return {}
    },
    async CloseModule({ module, e = 0, joins: signalled = [] }) {
      if (e < bounces) return { again: true, e: e + 1 }
      await signal(signalled, modules[module]?.sinks ?? [])
      return { again: false }
    },
    OpenChild: async ({ token }) => answered(token),
    RequestApproval: async ({ token }) => answered(token),
    Settle: async () => ({ end: 'completed', code: 'completed' }),
  }
  const answered = async (token: string) => {
    await machine.answer(token, { ok: { nothing: 'of an epoch' } })
    return {}
  }
  const machine: LocalMachine = createLocalMachine({
    async invoke(fn, payload) {
      const { in: input, token: _token, need: _need, joins: _joins, ...call } = payload as unknown as Loose
      // A part is told besides whose it is.
      expect(input).toMatchObject(INPUT)
      calls.push({ fn, ...call })
      return (await functions[fn]?.(payload as unknown as Loose)) ?? null
    },
    clock,
    ids: { random: (bytes) => randomBytes(bytes), boot: 'boot' },
    journal: createSqliteJournal(db),
    bind: (one) => one.replaceAll(/\$\{(\w+)\}/g, (_whole, name: string) => name),
  })
  const id = await machine.ensure(text, 'h', parts)
  await machine.start({ machine: id, name: 'run_a', input: INPUT })
  for (let turn = 0; turn < 200 && (await machine.describe(id, 'run_a'))?.status === 'RUNNING'; turn++) {
    await clock.advance(1_000)
  }
  const status = await machine.describe(id, 'run_a')
  await machine.close()
  db.close()
  return { calls, status, modules, joins, parts }
}

interface Loose {
  readonly in: unknown
  readonly block: string
  readonly token: string
  readonly join: string
  readonly need: number
  readonly module: number
  readonly e?: number
  readonly item?: number
  readonly phase?: string
  readonly joins?: readonly string[]
}

const rule = (route_to: string, ...reset_blocks: readonly string[]) => [
  { when_gate: 'g', route_to, reset_blocks, max_bounces: 2, feedback_from: 'gate_verdicts' as const },
]

test('inside a module every call has the epoch of the pass, outside none has one', async () => {
  const { calls, status } = await run(
    [
      { id: 'before', upstream: [] },
      { id: 'write', upstream: ['before'], approval: { timeout_sec: 60 } },
      { id: 'list', upstream: ['write'], foreach: { items: '{{inputs.x}}', max_concurrency: 2 } },
      { id: 'child', upstream: ['write'], mode: 'dag' },
      { id: 'review', upstream: ['list', 'child'], on_gate_fail: rule('write') },
      { id: 'after', upstream: ['review'] },
    ],
    2,
  )
  expect(status).toEqual({ status: 'SUCCEEDED' })
  const epochs = (id: string) => [...new Set(calls.filter(({ block }) => block === id).map(({ e }) => e))]
  for (const id of ['write', 'list', 'child', 'review']) expect([id, epochs(id)]).toEqual([id, [0, 1, 2]])
  for (const id of ['before', 'after']) expect([id, epochs(id)]).toEqual([id, [undefined]])
  expect(calls.filter(({ fn }) => fn === 'CloseModule')).toEqual(
    [0, 1, 2].map((e) => ({ fn: 'CloseModule', module: 0, e })),
  )
  const items = calls.filter(({ item }) => item !== undefined)
  for (const e of [0, 1, 2]) {
    // Twice for RetryBlock of its own, which its number and epoch survive, and once more for that of the close.
    expect(items.flatMap((call) => (call.e === e ? (call.item ?? []) : [])).sort()).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2])
  }
})

test('a list is mapped in order and closed; RetryBlock of the close begins the block again', async () => {
  const { calls, status } = await run([{ id: 'list', upstream: [], foreach: { items: [1, 2, 3], max_concurrency: 9 } }])
  expect(status).toEqual({ status: 'SUCCEEDED' })
  const told = calls.map(({ fn, phase, item }) => phase ?? (item === undefined ? fn : 'item'))
  const three = ['item', 'item', 'item']
  expect(told).toEqual(['items', ...three, ...three, 'close', 'items', ...three, 'close', 'Settle'])
  expect(calls.flatMap(({ item }) => item ?? []).slice(0, 3)).toEqual([0, 1, 2])
})

test('a child run is opened before it is closed, and opened again when the close asks for another try', async () => {
  const { calls } = await run([{ id: 'child', upstream: [], mode: 'dag', approval: { timeout_sec: 60 } }])
  expect(calls.map(({ fn, phase }) => phase ?? fn)).toEqual([
    'RequestApproval',
    'OpenChild',
    'close',
    'RequestApproval',
    'OpenChild',
    'close',
    'Settle',
  ])
})

test('a module that is the last thing in its branch leaves it', async () => {
  const { calls, status } = await run(
    [
      { id: 'a', upstream: [], on_gate_fail: rule('a') },
      { id: 'b', upstream: [] },
      { id: 'c', upstream: ['b'], on_gate_fail: rule('b') },
    ],
    1,
  )
  expect(status).toEqual({ status: 'SUCCEEDED' })
  expect(
    calls
      .filter(({ fn }) => fn === 'CloseModule')
      .map(({ module, e }) => `${module}:${e}`)
      .sort(),
  ).toEqual(['0:0', '0:1', '1:0', '1:1'])
})

test.each(Object.keys(FAMILIES))(
  'random documents of the family %s run to their end, each block in every epoch',
  async (family) => {
    for (let i = 0; i < 6; i += EACH) {
      const dag = randomDag(family, 4 + 3 * i, i)
      const whole = randomDocument(dag, randomFrom(i + family.length))
      const flat = whole.map(({ on_gate_fail: _, ...block }) => block)
      for (const [blocks, caps] of [
        [whole, undefined],
        [flat, { bytes: 14_000, events: 200 }],
      ] as const) {
        const { calls, status, modules } = await run(blocks, 1, caps)
        expect(status).toEqual({ status: 'SUCCEEDED' })
        const inside = new Set(modules.flatMap((module) => module.blocks))
        for (const { id } of blocks) {
          const epochs = [...new Set(calls.filter(({ block }) => block === id).map(({ e }) => e))]
          expect([id, epochs]).toEqual([id, inside.has(id) ? [0, 1] : [undefined]])
        }
      }
    }
  },
)
