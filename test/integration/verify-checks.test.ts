import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readStoredRun } from '../../functions/record/stored-run.ts'
import { type Block, DEFAULT_COMPLETION } from '../../shared/dag/dag.ts'
import { checkChain, checkRun, INVARIANTS } from '../../shared/invariants/check-run.ts'
import type { RunParts } from '../../shared/invariants/invariant.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { Head } from '../../shared/runs/head.ts'
import { AGENT_CHECKS } from './agents/agent-checks.ts'
import { richRun } from './rich-run.ts'
import type { TestPlace } from './test-place.ts'

/** Each invariant is broken in each way it can be: what is not found here is not checked. */
let place: TestPlace
let whole: Omit<RunParts, 'before' | 'max_attempts'>
let seal: Awaited<ReturnType<typeof readStoredRun>>['seal']

beforeAll(async () => {
  const rich = await richRun()
  place = rich.place
  const run = { tenant: 'main', run_id: rich.run_id }
  const { world } = place.place
  const meta = await world.runs.meta(run)
  if (meta === undefined) throw new Error('no META')
  const read = await readStoredRun(world, run, meta)
  // All of it was read: the first test says so.
  whole = read.stored as typeof whole
  seal = read.seal
})
afterAll(() => place.close())

type Parts = typeof whole
type Event<T extends RunEvent['type']> = Extract<RunEvent, { readonly type: T }>

const failing = async (parts: Parameters<typeof checkRun>[0]) => {
  return (await checkRun(parts)).flatMap(({ n, ok }) => (ok ? [] : [n]))
}

/** The events with those of one type that fit changed: all of them, or taken out. */
function changed<T extends RunEvent['type']>(
  type: T,
  change: (event: Event<T>) => object | undefined,
  fits: (event: Event<T>) => boolean = () => true,
) {
  return (parts: Parts): Parts => {
    let done = false
    const events = parts.events.flatMap((event) => {
      if (done || event.type !== type || !fits(event as Event<T>)) return [event]
      done = true
      const now = change(event as Event<T>)
      return now === undefined ? [] : [{ ...event, ...now } as RunEvent]
    })
    if (!done) throw new Error(`no ${type} to change`)
    return { ...parts, events: events.map((event, i) => ({ ...event, seq: i + 1 })) }
  }
}

const withData =
  <T extends RunEvent['type']>(type: T, data: object, fits?: (event: Event<T>) => boolean) =>
  (parts: Parts) =>
    changed(type, (event) => ({ data: { ...event.data, ...data } }), fits)(parts)

const withHead = (change: (head: Head) => object) => (parts: Parts) => ({
  ...parts,
  head: { ...parts.head, ...change(parts.head) },
})

/** Puts a copy of the event that fits somewhere else, with an id of its own. */
function copied(type: RunEvent['type'], to: 'end' | 'next' | 'start', over: object = {}) {
  return (parts: Parts): Parts => {
    const at = parts.events.findIndex((event) => event.type === type)
    const event = { ...parts.events[at], ...over, id: `${parts.events[at]?.id}x` } as RunEvent
    const place = { end: parts.events.length, next: at + 1, start: 1 }[to]
    const events = parts.events.toSpliced(place, 0, event).map((one, i) => ({ ...one, seq: i + 1 }))
    return { ...parts, events, head: { ...parts.head, seq: events.length } }
  }
}

const WAITS = {
  type: 'block:waiting',
  data: { for: 'event', until: '2100-01-01T00:00:00.000Z', name: 'go', inputs_ref: 'objstore://main/i' },
} as const
const BY_EVENT = {
  type: 'block:woken',
  data: { by: 'event', event_id: 'e', payload: { ref: 'objstore://main/p', sha256: 'p', bytes: 1 } },
} as const

/** The first attempt of the first block waits, as these events say. */
function woken(...told: readonly Pick<RunEvent, 'type' | 'data'>[]) {
  return (parts: Parts): Parts => {
    const at = parts.events.findIndex(({ type }) => type === 'block:started')
    const begun = parts.events[at]
    const more = told.map((one, i) => ({ ...begun, ...one, id: `${begun?.id}w${i}` }) as RunEvent)
    const events = parts.events.toSpliced(at + 1, 0, ...more).map((one, i) => ({ ...one, seq: i + 1 }))
    return { ...parts, events, head: { ...parts.head, seq: events.length } }
  }
}

const isOf = (id: string) => (event: RunEvent) => event.block_id === id && event.item === undefined

const ROWS: readonly (readonly [number, string, (parts: Parts) => Parts & { before?: Head; max_attempts?: number }])[] =
  [
    [1, 'an event is missing', (parts) => ({ ...parts, events: parts.events.filter(({ seq }) => seq !== 5) })],
    [1, 'the last event is missing', (parts) => ({ ...parts, events: parts.events.slice(0, -1) })],
    [1, 'an event is of another run', changed('block:ready', () => ({ run_id: 'run_other' }))],
    [2, 'an id stands twice', changed('block:ready', () => ({ id: 'run/10/0' }))],
    [4, 'something after the end', copied('block:gate', 'end')],
    [5, 'two ends', copied('run:completed', 'end')],
    [5, 'no end', withHead(() => ({ state: 'running' }))],
    [6, 'HEAD says another end', withHead(() => ({ state: 'failed' }))],
    [6, 'the end has changed', (parts) => ({ ...parts, before: { ...parts.head, state: 'cancelled' } })],
    [7, 'a block completed twice', copied('block:completed', 'next')],
    [7, 'completed without a start', changed('block:started', () => undefined, isOf('build'))],
    [7, 'an item after its block', copied('block:started', 'end', { block_id: 'each', item: 1, attempt: 1 })],
    [
      7,
      'an item never ended',
      changed(
        'block:completed',
        () => undefined,
        ({ item }) => item === 1,
      ),
    ],
    [8, 'ready twice', copied('block:ready', 'next')],
    [8, 'an output before the start', copied('block:output', 'start')],
    [8, 'never ready', changed('block:ready', () => undefined)],
    [
      8,
      'an event of another epoch',
      changed('block:started', ({ id }) => ({ id: id.replace('/', '/100') }), isOf('build')),
    ],
    [9, 'a start before its upstream', copied('block:started', 'start', { block_id: 'deploy' })],
    [9, 'a skip for a reason that is none', withData('block:skipped', { condition: undefined, because: ['review'] })],
    [9, 'a skip by a condition it does not have', withData('block:skipped', { condition: 'depends' })],
    [
      10,
      'an attempt left out',
      changed(
        'block:started',
        () => ({ attempt: 3 }),
        ({ attempt }) => attempt === 2,
      ),
    ],
    [10, 'a try too many', changed('block:retrying', () => ({ block_id: 'build' }))],
    [10, 'beyond the cap', (parts) => ({ ...parts, max_attempts: 1 })],
    [
      11,
      'a gate was not judged',
      changed(
        'block:gate',
        () => undefined,
        ({ data }) => data.status === 'passed',
      ),
    ],
    [11, 'a gate did not hold', withData('block:gate', { status: 'failed' }, ({ data }) => data.status === 'passed')],
    [11, 'judged twice', copied('block:gate', 'next')],
    [12, 'a verdict is another', withData('block:gate', { status: 'passed' }, ({ data }) => data.status === 'failed')],
    [12, 'its reason is another', withData('block:gate', { reason: 'because' })],
    [12, 'of other values', withData('block:gate', { input_hash: '0'.repeat(64) })],
    [12, 'an item of other values', withData('block:gate', { input_hash: '0'.repeat(64) }, ({ item }) => item === 2)],
    [12, 'other inputs', withData('block:started', { inputs_hash: '0'.repeat(64) }, isOf('review'))],
    [13, 'decided twice', copied('approval:decided', 'next')],
    [13, 'decided too late', changed('approval:decided', () => ({ at: '2199-01-01T00:00:00.000Z' }))],
    [13, 'something else was decided', withData('approval:decided', { digest: '0'.repeat(64) })],
    [
      13,
      'somebody else decided',
      (parts) => ({
        ...parts,
        approvals: parts.approvals.map((item) => ({ ...item, approvers: ['user:nobody'] })),
      }),
    ],
    [13, 'nobody was asked', changed('approval:requested', () => undefined)],
    [14, 'it went on though it was refused', withData('approval:decided', { decision: 'reject' })],
    [14, 'it went on unasked', changed('approval:decided', () => undefined)],
    [17, 'over the cap', withHead(({ budget }) => ({ budget: { ...budget, cap_tokens: 1, committed_tokens: 1_000 } }))],
    [17, 'spent but not committed', withHead(({ budget }) => ({ budget: { ...budget, spent_tokens: 1e9 } }))],
    [
      18,
      'less than before',
      (parts) => ({
        ...parts,
        before: { ...parts.head, budget: { ...parts.head.budget, spent_tokens: parts.head.budget.spent_tokens + 1 } },
      }),
    ],
    [20, 'an event is large', withData('block:gate', { reason: 'x'.repeat(2_000) })],
    [20, 'HEAD is large', withHead(() => ({ children: { 0: 'x'.repeat(40_000) } }))],
    [20, 'an event says what its type does not know', withData('block:ready', { more: 1 })],
    [21, 'an object is missing', (parts) => ({ ...parts, read: async () => undefined })],
    [21, 'an object is damaged', (parts) => ({ ...parts, read: async () => Buffer.from('{}') })],
    [21, 'a ref is none', (parts) => ({ ...parts, meta: { ...parts.meta, dag_ref: 'objstore://main/1' } })],
    [21, 'a hash is another', withOutput({ sha256: '0'.repeat(64) })],
    [21, 'a size is another', withOutput({ bytes: 1 })],
    [22, 'a projection is of another state', withProjection({ state: 'failed' })],
    [22, 'of another attempt', withProjection({ attempt: 7 })],
    [22, 'of other outputs', withProjection({ outputs: {} })],
    [22, 'of a step that never was', withProjection({ ordinal: 1_077 })],
    [23, 'a lane stands elsewhere', withHead(({ lanes }) => ({ lanes: { ...lanes, 0: 1_010 } }))],
    [23, 'a lane nobody knows', withHead(({ lanes }) => ({ lanes: { ...lanes, 77: 1_010 } }))],
    [
      23,
      'an approval has another status',
      withHead(({ approvals }) => ({
        approvals: Object.fromEntries(
          Object.entries(approvals).map(([id, one]) => [id, { ...one, status: 'rejected' }]),
        ),
      })),
    ],
    [23, 'a module is in another epoch', withHead(() => ({ modules: {} }))],
    [
      30,
      'a bounce without a failure',
      changed('block:failed', () => ({ type: 'block:completed', data: {} }), isOf('review')),
    ],
    [30, 'a bounce too many', withData('block:rerouted', { bounce: 3 })],
    [30, 'a bounce nobody wrote', withData('block:rerouted', { max: 9 })],
    [30, 'a block between is left out', withData('block:rerouted', { reset: ['review'] })],
    // The other ways are in pivots/verify.test.ts: this run has no goal.
    [
      31,
      'nobody judged it',
      (parts) => ({ ...parts, meta: { ...parts.meta, goal: { completion: DEFAULT_COMPLETION } } }),
    ],
    [33, 'its execution ended otherwise', (parts) => ({ ...parts, execution: { status: 'FAILED' } })],
    // What stands behind a decision is broken in approvals/binding.test.ts: here nothing does.
    [39, 'a question shows something else', withQuestion({ prompt: 'Nothing to see here' })],
    [
      39,
      'an override was not shown',
      (parts) => ({ ...parts, meta: { ...parts.meta, overrides: { 'plan.text': 'x' } } }),
    ],
    [39, 'another document was not shown', withQuestion({ changes: undefined } as never)],
    [39, 'the document is another', (parts) => ({ ...parts, meta: { ...parts.meta, dag_hash: '0'.repeat(64) } })],
    [40, 'bytes were not counted', withHead(() => ({ stored_bytes: 1_000 }))],
    // Nothing of this run is a step or a wait: what they may not do is put in.
    [
      42,
      'somebody else begins its work',
      copied('block:started', 'next', { type: 'step:started', data: { holder: 'x' } }),
    ],
    [43, 'work that may be done once is done again', (parts) => lostOnce(parts)],
    [44, 'a block was woken that does not wait', woken(BY_EVENT)],
    [44, 'an attempt waits twice', woken(WAITS, WAITS)],
    [
      44,
      'events ended no wait for an event',
      woken({ ...WAITS, data: { ...WAITS.data, for: 'time' } }, { type: 'block:woken', data: { by: 'limit' } }),
    ],
    [44, 'its time had not come', woken(WAITS, { type: 'block:woken', data: { by: 'time' } })],
    [44, 'a callback ended the wait for an event', woken(WAITS, { ...BY_EVENT, data: { by: 'callback' } })],
    [44, 'what the event said is not there', woken(WAITS, { ...BY_EVENT, data: { by: 'event', event_id: 'e' } })],
    [44, 'one event woke a block twice', woken(WAITS, BY_EVENT, BY_EVENT)],
    [
      45,
      'it is judged by the outcome of nothing',
      changed('block:output', ({ data }) => ({ data: { ...data, outcome_ref: Object.values(data.outputs)[0]?.ref } })),
    ],
  ]

/** Its first block is a step whose work is done once, began, and is tried again after it was lost. */
function lostOnce(parts: Parts): Parts {
  const begun = copied('block:started', 'next', { type: 'step:started' })(parts)
  const lost = withData('block:retrying', { code: 'ATTEMPT_LOST' })(begun)
  const step = { kind: 'module', hash: '0', effect: 'once' } as const
  const blocks = parts.dag.blocks.map((one) => {
    return one.index === 0
      ? ({ ...one, mode: 'deterministic', handler: './steps/a.ts', config: {}, step } as Block)
      : one
  })
  return { ...lost, dag: { ...parts.dag, blocks } }
}

function withOutput(over: object) {
  return changed('block:output', ({ data }) => {
    const outputs = Object.entries(data.outputs).map(([port, value]) => [port, { ...value, ...over }])
    return { data: { ...data, outputs: Object.fromEntries(outputs) } }
  })
}

function withQuestion(over: object) {
  return (parts: Parts): Parts => ({ ...parts, approvals: parts.approvals.map((item) => ({ ...item, ...over })) })
}

function withProjection(over: object) {
  return (parts: Parts): Parts => ({
    ...parts,
    projections: parts.projections.map((one) => (one.block === 0 ? { ...one, ...over } : one)),
  })
}

describe('a run in which everything happens', () => {
  test('holds every invariant, and none is left out', async () => {
    const checked = await checkRun(whole)
    expect(checked.filter(({ ok, left_out }) => !ok || left_out !== undefined)).toEqual([])
    expect(checked.map(({ n }) => n)).toEqual(INVARIANTS.map(({ n }) => n))
    expect(checkChain(whole, seal)).toMatchObject({ n: 0, ok: true, problems: [] })
    const seen = new Set(whole.events.map(({ type }) => type))
    for (const type of ['block:retrying', 'block:rerouted', 'block:skipped', 'approval:decided', 'block:failed']) {
      expect(seen).toContain(type)
    }
  })

  test.each(ROWS)('%i is broken when %s', async (n, _what, breaking) => {
    expect(await failing(breaking(whole))).toContain(n)
  })

  test('every invariant has a row, here or where agents have theirs', () => {
    const numbers = INVARIANTS.map(({ n }) => n)
    expect([...new Set(ROWS.map(([n]) => n))]).toEqual(numbers.filter((n) => !AGENT_CHECKS.includes(n)))
  })

  test('a prefix of its log holds what a log can be asked, at every event', async () => {
    const log = INVARIANTS.filter(({ of }) => of === 'log')
    for (const { seq } of whole.events) {
      const events = whole.events.slice(0, seq)
      const checked = await checkRun({ events, dag: whole.dag, meta: whole.meta }, log)
      expect(checked.flatMap(({ n, problems }) => problems.map((problem) => [seq, n, problem]))).toEqual([])
    }
  })
})
