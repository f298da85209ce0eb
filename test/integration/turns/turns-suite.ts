import { afterEach, describe, expect, test } from 'vitest'
import { EMPTY_QUEUE, keyQueueName } from '../../../shared/runs/key-queue.ts'
import { atMost } from '../../how-much.ts'
import { child, childOf, deployDocument } from '../child-place.ts'
import {
  dailyOnSqlite,
  eventually,
  HOLDS,
  noHolders,
  type OpenSafe,
  post,
  QUICK,
  startOf,
  stateOf,
  WAITS,
} from '../safety/safety-place.ts'
import type { TestPlace } from '../test-place.ts'

const customer = { customer: { type: 'string' } }

/** A document whose runs wait for a person, and take turns by customer. */
const keyed = (concurrency: object = {}) => ({
  ...WAITS,
  inputs: customer,
  concurrency: { key: 'inputs.customer', ...concurrency },
})

const of = (name: string, more: object = {}) => ({ inputs: { customer: name }, ...more })

/** Runs of one key that take turns, on one kind of store. */
export function turnsSuite(store: string, openSafe: OpenSafe): void {
  const daily = dailyOnSqlite(store)
  let open: TestPlace
  const opened = async (safety: object = {}, more: Parameters<OpenSafe>[1] = {}) => {
    open = await openSafe(safety, more)
    return open.place.world.runs
  }
  const started = async (dag: object, more: object = {}) => {
    const { status, json } = await startOf(open, dag, more)
    expect(json).not.toHaveProperty('code')
    expect(status).toBe(201)
    return String(json.run_id)
  }
  const stop = (run_id: string) => post(open, 'stop-run', { run_id })
  const begun = (run_id: string) => open.until(run_id, ({ type }) => type === 'approval:requested')
  const shown = async (run_id: string) => (await post(open, 'get-run', { run_id, body: null })).json.run
  const endOf = async (run_id: string) => (await open.ended(run_id)).at(-1)
  const queueOf = (value: string, name = 'waits') => ({ tenant: 'main', queue: keyQueueName(name, value) })
  const empty = (value: string) =>
    eventually(async () => {
      const { running, waiting } = await open.place.world.runs.keyQueue(queueOf(value))
      return running.length + waiting.length === 0
    }, `nobody stands in the queue of ${value}`)
  /** The sweep looks at it now. */
  const swept = async (...ids: string[]) => {
    const { runs } = open.place.world
    for (const run_id of ids) {
      const key = { tenant: 'main', run_id }
      const head = await runs.head(key)
      await runs.moveCheck(key, head?.check_at ?? '', new Date(Date.now() - 1_000).toISOString())
    }
    await open.place.invoke('sweep', {})
  }

  describe(`runs of one key, on ${store}`, () => {
    afterEach(() => open.close())

    test('take turns in the order they came, and say behind whom; those of another key do not wait', async () => {
      await opened()
      const [a, b, c] = [
        await started(keyed(), of('acme')),
        await started(keyed(), of('acme')),
        await started(keyed(), of('acme')),
      ]
      const other = await started(keyed(), of('globex'))
      await Promise.all([begun(a), begun(other)])
      expect(await Promise.all([a, b, c].map((id) => stateOf(open, id)))).toEqual([
        'paused_approval',
        'pending',
        'pending',
      ])
      const [first] = await open.events(c)
      const words = `waiting for its turn (inputs.customer) since ${first?.at}: 2nd in the queue, behind ${b}, ${a} goes on (limit 1)`
      const turn = { key: 'inputs.customer', limit: 1, on_conflict: 'queue', running: [a] }
      expect(await shown(c)).toMatchObject({ waiting_for: words, turn: { ...turn, place: 2, behind: [b] } })
      expect((await shown(a))?.turn).toEqual(turn)
      await stop(a)
      await begun(b)
      expect(await stateOf(open, c)).toBe('pending')
      await stop(b)
      await begun(c)
      await stop(c)
      await empty('acme')
      expect(await shown(c)).not.toHaveProperty('turn')
    })

    test('never go on beyond the limit, and all of them come to their end', {
      ...daily,
      timeout: 120_000,
    }, async () => {
      const runs = await opened({ max_runs: 5, queue: true })
      const dag = { ...QUICK, inputs: customer, concurrency: { key: 'inputs.customer', limit: 2 } }
      let most = 0
      const { world } = open.place
      const { start } = world.machine
      const ids: string[] = []
      const counted: typeof start = async (order) => {
        const live = await Promise.all(ids.map((run_id) => runs.head({ tenant: 'main', run_id })))
        const on = live.flatMap((head, n) => (head?.state === 'running' && head.queued !== true ? [n % 2] : []))
        most = Math.max(most, on.filter((n) => n === 0).length, on.filter((n) => n === 1).length)
        return start(order)
      }
      Object.assign(world, { machine: { ...world.machine, start: counted } })
      const starts = Array.from({ length: atMost(30, 12) }, (_, n) => started(dag, of(n % 2 === 0 ? 'even' : 'odd')))
      ids.push(...(await Promise.all(starts)))
      for (const id of ids) expect((await endOf(id))?.type).toBe('run:completed')
      expect(most).toBeLessThanOrEqual(2)
      await noHolders(open)
      expect(await runs.queued('main', 100)).toEqual([])
      for (const value of ['even', 'odd']) {
        await eventually(async () => {
          const queue = await runs.keyQueue(queueOf(value, 'quick'))
          return queue.running.length + queue.waiting.length === 0
        }, 'the queue is empty')
      }
    })

    test('skip: a start is refused with who goes on, and makes no run', async () => {
      const runs = await opened()
      const dag = keyed({ on_conflict: 'skip' })
      const a = await started(dag, of('acme'))
      const { status, json } = await startOf(open, dag, of('acme'))
      expect([status, json.code, json.facts]).toEqual([409, 'concurrency_skipped', { runs: [a] }])
      expect((await runs.list('main', { limit: 10 })).runs).toHaveLength(1)
      await started(dag, of('globex'))
      await stop(a)
      await empty('acme')
      await begun(await started(dag, of('acme')))
    })

    test('skip: of ten that are started at once one goes on, and the others end with the reason', daily, async () => {
      const runs = await opened()
      const dag = keyed({ on_conflict: 'skip' })
      const answers = await Promise.all(Array.from({ length: 10 }, () => startOf(open, dag, of('acme'))))
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
      expect(answers.filter(({ json }) => json.code === 'concurrency_skipped')).toHaveLength(9)
      const { runs: all } = await runs.list('main', { limit: 20 })
      const ends = all.filter(({ head }) => head.state !== 'running').map(({ head }) => head.ended?.code)
      expect(new Set(ends).size).toBeLessThanOrEqual(1)
      expect(all.length - ends.length).toBe(1)
    })

    test('cancel_running: the newest goes on, once the one before it has ended', async () => {
      await opened()
      const dag = keyed({ on_conflict: 'cancel_running' })
      const a = await started(dag, of('acme'))
      await begun(a)
      const b = await started(dag, of('acme'))
      expect((await endOf(a))?.data).toMatchObject({
        code: 'concurrency_cancelled',
        reason: `run ${b} of the same concurrency key was started (on_conflict: cancel_running)`,
      })
      await begun(b)
    })

    test('replace_queued: the newest waits alone', async () => {
      await opened()
      const dag = keyed({ on_conflict: 'replace_queued' })
      const [a, b, c] = [await started(dag, of('acme')), await started(dag, of('acme')), await started(dag, of('acme'))]
      expect((await endOf(b))?.data).toMatchObject({
        code: 'concurrency_replaced',
        reason: `run ${c} of the same concurrency key took its place in the queue (on_conflict: replace_queued)`,
      })
      expect(await shown(c)).toMatchObject({ turn: { running: [a], place: 1, behind: [] } })
      await stop(a)
      await begun(c)
    })

    test('a priority goes first among those that wait, and says so', async () => {
      await opened()
      const a = await started(keyed(), of('acme'))
      const [b, c] = [await started(keyed(), of('acme')), await started(keyed(), of('acme', { priority: 600 }))]
      expect(await shown(c)).toMatchObject({ priority: 600, turn: { place: 1 } })
      await stop(a)
      await begun(c)
      expect(await stateOf(open, b)).toBe('pending')
      expect((await startOf(open, keyed(), of('acme', { priority: 3_601 }))).status).toBe(400)
    })

    test('keys take turns at slots, however many runs one of them has', daily, async () => {
      await opened({ max_runs: 1, queue: true })
      const a = await started(keyed(), of('acme'))
      await begun(a)
      const names = ['acme', 'acme', 'acme', 'globex', 'globex']
      const ids: string[] = []
      for (const name of names) ids.push(await started(keyed(), of(name)))
      const [acme1 = '', acme2 = '', acme3 = '', globex1 = '', globex2 = ''] = ids
      let before = a
      for (const next of [globex1, acme1, globex2, acme2, acme3]) {
        await stop(before)
        await begun(next)
        before = next
      }
    })

    test('one that waits can be stopped, and those behind it move up', async () => {
      await opened()
      const [a, b, c] = [
        await started(keyed(), of('acme')),
        await started(keyed(), of('acme')),
        await started(keyed(), of('acme')),
      ]
      expect((await stop(b)).status).toBe(200)
      await eventually(async () => (await shown(c))?.turn !== undefined && (await place(c)) === 1, 'it moved up')
      expect((await open.events(b)).map(({ type }) => type)).toEqual(['run:started', 'run:cancelled'])
      await stop(a)
      await begun(c)
    })
    const place = async (id: string) => ((await shown(id))?.turn as { readonly place?: number } | undefined)?.place

    test('a retry stands in the queue of its key', async () => {
      await opened()
      const a = await started(keyed(), of('acme'))
      await stop(a)
      await empty('acme')
      const b = await started(keyed(), of('acme'))
      await begun(b)
      const { json } = await post(open, 'retry-run', { run_id: a })
      const c = String(json.run_id)
      expect(await shown(c)).toMatchObject({ turn: { running: [b], place: 1 } })
      await stop(b)
      await begun(c)
    })

    test('without a key all runs of a document take turns; a changed limit is that of the runs started from then on', async () => {
      await opened()
      const dag = { ...WAITS, concurrency: { limit: 1 } }
      const [a, b] = [await started(dag), await started(dag)]
      const wider = { ...WAITS, concurrency: { limit: 3 } }
      const c = await started(wider)
      expect(await shown(c)).toMatchObject({ turn: { limit: 3, place: 2, behind: [b] } })
      await stop(a)
      await begun(b)
      await begun(c)
    })

    test(
      'the sweep brings a run to its queue, and lets the next one begin, where whoever was to died',
      daily,
      async () => {
        const runs = await opened({}, { sweep_ms: 0 })
        const a = await started(keyed(), of('acme'))
        await begun(a)
        const b = await started(keyed(), of('acme'))
        const seen = await runs.keyQueue(queueOf('acme'))
        // The start of b died before it came to its queue.
        expect(await runs.putKeyQueue(queueOf('acme'), { running: seen.running, waiting: [] }, seen.version)).toBe(true)
        await swept(b)
        expect(await shown(b)).toMatchObject({ turn: { running: [a], place: 1 } })
        // The end of a was written, and nobody was told.
        const world = open.place.world
        const { nudge } = world.outbox
        Object.assign(world.outbox, { nudge: async () => {} })
        await stop(a)
        await swept(b)
        Object.assign(world.outbox, { nudge })
        await swept(b)
        await begun(b)
        // The queue was lost from the message on: b has its turn, and stands in no queue for a slot.
        expect((await runs.keyQueue(queueOf('acme'))).running.map(({ run_id }) => run_id)).toEqual([b])
      },
    )

    test('a key that comes to no text, number or truth is refused, with what it came to', async () => {
      const runs = await opened()
      const optional = { customer: { type: 'json', required: false } }
      const dag = { ...keyed(), inputs: optional }
      const refused = async (inputs: object) => {
        const { status, json } = await startOf(open, dag, { inputs })
        return [status, json.code, json.detail]
      }
      const rule = 'allowed is a text of at most 256 characters, a number, true or false.'
      const says = (what: string) =>
        expect.stringContaining(`its concurrency key inputs.customer came to ${what}; ${rule}`)
      expect((await refused({})).slice(0, 2)).toEqual([422, 'concurrency_key_failed'])
      expect(await refused({ customer: null })).toEqual([422, 'concurrency_key_value', says('no value')])
      expect(await refused({ customer: ['a', 'b'] })).toEqual([422, 'concurrency_key_value', says('a list')])
      expect(await refused({ customer: 'x'.repeat(257) })).toEqual([
        422,
        'concurrency_key_value',
        says('a text of 257 characters'),
      ])
      const failing = { ...dag, concurrency: { key: '$number(inputs.customer)' } }
      const { status, json } = await startOf(open, failing, { inputs: { customer: 'x' } })
      expect([status, json.code]).toEqual([422, 'concurrency_key_failed'])
      expect((await runs.list('main', { limit: 10 })).runs).toEqual([])
    })

    test('a start over the cap is refused without a queue, and makes no run', async () => {
      await opened({ max_runs: 1 })
      await started(HOLDS)
      const { status, json } = await startOf(open, keyed(), of('globex'))
      expect([status, json.code]).toEqual([429, 'too_many_runs'])
      expect(await open.place.world.runs.keyQueue(queueOf('globex'))).toMatchObject(EMPTY_QUEUE)
    })
  })

  describe(`child runs of one key, on ${store}`, () => {
    afterEach(() => open.close())

    const parent = (value: string) => ({
      name: 'parent',
      blocks: [child('sub', 'inner', { outputs: {} }, { inputs: { customer: value } })],
    })
    const deployInner = (more: object = {}) =>
      deployDocument(open, 'inner', WAITS.blocks, {
        inputs: customer,
        concurrency: { key: 'inputs.customer' },
        ...more,
      })

    test('wait for their turn as others do, and are stopped with their parent', async () => {
      const runs = await opened()
      deployInner()
      const a = await started(parent('acme'))
      const first = await childOf(open, a, 'sub')
      await begun(first)
      const b = await started(parent('acme'))
      const second = await childOf(open, b, 'sub')
      await eventually(async () => (await shown(second))?.state === 'pending', 'it waits')
      await stop(b)
      expect((await endOf(second))?.data).toMatchObject({ code: 'parent_ended' })
      const c = await started(parent('acme'))
      const third = await childOf(open, c, 'sub')
      await stop(a)
      await begun(third)
      expect((await runs.keyQueue(queueOf('acme', 'inner'))).running.map(({ run_id }) => run_id)).toEqual([third])
    })

    test('do not wait behind runs that wait for the slot of their parent', daily, async () => {
      await opened({ max_runs: 1, queue: true })
      deployInner()
      const a = await started(HOLDS)
      // It has its turn of the key, and lacks a slot; the parent behind it has that slot first by its priority.
      const inner = await started({ ...keyed(), name: 'inner' }, of('acme'))
      const b = await started(parent('acme'), { priority: 3_600 })
      await stop(a)
      const first = await childOf(open, b, 'sub')
      await begun(first)
      await stop(b)
      await open.ended(b)
      await begun(inner)
    })

    test('fail their block where they would wait for a run above them', async () => {
      await opened()
      const self = {
        name: 'inner',
        inputs: customer,
        concurrency: { key: 'inputs.customer' },
        blocks: [child('sub', 'inner', { outputs: {} }, { inputs: { customer: '{{inputs.customer}}' } })],
      }
      deployInner({ blocks: self.blocks })
      const a = await started(self, of('acme'))
      const events = await open.ended(a)
      const failed = events.find(({ type }) => type === 'block:failed')
      expect(failed?.data).toMatchObject({ code: 'waits_for_itself' })
    })
  })
}
