import { afterEach, describe, expect, test } from 'vitest'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { runsPool } from '../../../shared/runs/run-store.ts'
import { atMost } from '../../how-much.ts'
import type { TestPlace } from '../test-place.ts'
import {
  dailyOnSqlite,
  eventually,
  HOLDS,
  holders,
  noHolders,
  type OpenSafe,
  post,
  QUICK,
  startOf,
  stateOf,
} from './safety-place.ts'

/** Starts over the cap that wait for a place, on one kind of store. */
export function queueSuite(store: string, openSafe: OpenSafe): void {
  const daily = dailyOnSqlite(store)
  let open: TestPlace
  const opened = async (safety: object, more: Parameters<OpenSafe>[1] = {}) => {
    open = await openSafe({ queue: true, ...safety }, more)
    return open.place.world.runs
  }
  const started = async (dag: object, more: object = {}) => {
    await nextMillisecond()
    const { status, json } = await startOf(open, dag, more)
    expect(status).toBe(201)
    return String(json.run_id)
  }
  const stop = (run_id: string) => post(open, 'stop-run', { run_id })
  const released = (run_id: string) => open.until(run_id, ({ type }) => type === 'block:waiting')
  const waiting = async (run_id: string) => {
    return (await post(open, 'get-run', { run_id, body: null })).json.run?.waiting_for
  }

  describe(`a start over the cap, with queue, on ${store}`, () => {
    afterEach(() => open.close())

    test('waits as pending, in words, and goes on in its turn', daily, async () => {
      const runs = await opened({ max_runs: 2 })
      const ids: string[] = []
      for (let i = 0; i < 5; i += 1) ids.push(await started(HOLDS))
      const [first = '', second = '', third = '', fourth = '', fifth = ''] = ids
      await Promise.all([released(first), released(second)])
      expect(await Promise.all(ids.map((id) => stateOf(open, id)))).toEqual([
        'waiting',
        'waiting',
        'pending',
        'pending',
        'pending',
      ])
      const [start] = await open.events(fifth)
      expect(start?.data).toMatchObject({ queued: true })
      expect(await waiting(fifth)).toBe(`waiting for a place since ${start?.at}: 3rd in the queue, 2 runs are active`)
      expect((await post(open, 'get-safety', { body: null })).json).toMatchObject({ active_runs: 2, queued_runs: 3 })
      await stop(second)
      await released(third)
      expect(await waiting(fourth)).toContain('1st in the queue, 2 runs are active')
      expect(await stateOf(open, fourth)).toBe('pending')
      await stop(first)
      await released(fourth)
      expect([...(await holders(open))].sort()).toEqual([third, fourth].sort())
      expect((await runs.queued('main', 10)).map(({ run_id }) => run_id)).toEqual([fifth])
      for (const id of ids) expect(foldRun(await open.events(id)).queued === true).toBe(id === fifth)
    })

    test('is listed as pending, and only there', daily, async () => {
      await opened({ max_runs: 1 })
      const [active, queued] = [await started(HOLDS), await started(HOLDS)]
      await released(active)
      const listed = async (status: string) => {
        const page = await open.place.world.runs.list('main', { state: 'running', limit: 10 })
        expect(page.runs).toHaveLength(2)
        const answer = (await open.place.invoke('list-runs', {
          ...{ httpMethod: 'GET', path: '/', pathParameters: null, headers: {}, body: null, isBase64Encoded: false },
          queryStringParameters: { status },
        })) as { body: string }
        return (JSON.parse(answer.body).runs as { run_id: string }[]).map(({ run_id }) => run_id)
      }
      expect([await listed('pending'), await listed('running'), await listed('waiting')]).toEqual([
        [queued],
        [],
        [active],
      ])
    })

    test('never lets more than the cap run, and all of them in the end', { ...daily, timeout: 60_000 }, async () => {
      await opened({ max_runs: 3 })
      let most = 0
      const { world } = open.place
      const { start } = world.machine
      const counted: typeof start = async (order) => {
        most = Math.max(most, (await holders(open)).length)
        return start(order)
      }
      Object.assign(world, { machine: { ...world.machine, start: counted } })
      const ids = await Promise.all(Array.from({ length: atMost(25, 9) }, () => started(QUICK)))
      for (const id of ids) expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
      expect(most).toBeLessThanOrEqual(3)
      await noHolders(open)
      expect(await world.runs.queued('main', 100)).toEqual([])
    })

    test('can be stopped while it waits, and leaves the queue', daily, async () => {
      const runs = await opened({ max_runs: 1 })
      const [active, second, third] = [await started(HOLDS), await started(HOLDS), await started(HOLDS)]
      expect((await stop(second)).status).toBe(200)
      await eventually(async () => (await runs.queued('main', 10)).length === 1, 'it left the queue')
      const types = (await open.events(second)).map(({ type }) => type)
      expect(types).toEqual(['run:started', 'run:cancelled'])
      expect(foldRun(await open.events(second)).queued).toBeUndefined()
      await stop(active)
      await released(third)
      expect(await holders(open)).toEqual([third])
    })

    test('has its whole time from its release on', daily, async () => {
      const runs = await opened({ max_runs: 1 })
      const active = await started(HOLDS)
      const queued = await started(HOLDS, { options: { deadline_sec: 1 } })
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      expect(await stateOf(open, queued)).toBe('pending')
      const before = Date.now()
      await stop(active)
      await released(queued)
      const head = await runs.head({ tenant: 'main', run_id: queued })
      expect(Date.parse(head?.deadline_at ?? '')).toBeGreaterThanOrEqual(before + 1_000)
      expect(head).not.toHaveProperty('queued')
    })

    test('does not pass by those that wait already', async () => {
      const runs = await opened({ max_runs: 1 }, { sweep_ms: 0 })
      const [active, waiting] = [await started(HOLDS), await started(HOLDS)]
      // A place became free, and whoever was to fill it died.
      await released(active)
      await runs.dropLease(runsPool('main'), active)
      const late = await started(HOLDS)
      await released(waiting)
      expect(await stateOf(open, late)).toBe('pending')
    })

    test('is released by the sweep where nobody else did', daily, async () => {
      const runs = await opened({ max_runs: 1 }, { sweep_ms: 0 })
      const [active, queued] = [await started(HOLDS), await started(HOLDS)]
      const third = await started(HOLDS)
      // The start of the second died before it stood in the queue, the end of the first before it was told on.
      for (const one of await runs.queued('main', 10)) await runs.dequeue(one)
      await runs.dropLease(runsPool('main'), active)
      for (const run_id of [queued, third]) {
        const key = { tenant: 'main', run_id }
        const head = await runs.head(key)
        await runs.moveCheck(key, head?.check_at ?? '', new Date(Date.now() - 1_000).toISOString())
      }
      await open.place.invoke('sweep', {})
      await open.place.invoke('sweep', {})
      await released(queued)
      expect(await stateOf(open, third)).toBe('pending')
    })

    test('takes up a place that somebody took for it before he died', daily, async () => {
      const runs = await opened({ max_runs: 2 }, { sweep_ms: 0 })
      const [one, two] = [await started(HOLDS), await started(HOLDS)]
      const [three, four] = [await started(HOLDS), await started(HOLDS)]
      await runs.dropLease(runsPool('main'), one)
      await runs.takeLease(runsPool('main'), four, new Date(Date.now() + 900_000).toISOString(), 2)
      await open.place.invoke('sweep', {})
      await released(four)
      expect(await stateOf(open, three)).toBe('pending')
      expect([...(await holders(open))].sort()).toEqual([two, four].sort())
    })
  })
}

/** Runs that were started in one millisecond have no order in the queue. */
async function nextMillisecond(): Promise<void> {
  for (const now = Date.now(); Date.now() === now; ) await new Promise(setImmediate)
}
