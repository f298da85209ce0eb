import { afterEach, describe, expect, test } from 'vitest'
import type { RunStore } from '../../../shared/runs/run-store.ts'
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

/** Starts that somebody holds, on one kind of store. */
export function holdSuite(store: string, openSafe: OpenSafe): void {
  const daily = dailyOnSqlite(store)
  let open: TestPlace
  const opened = async (...args: Parameters<OpenSafe>) => {
    open = await openSafe(...args)
    return open.place.world.runs
  }
  const holdAll = (reason = 'the model is wrong') => post(open, 'stop-all', { body: { hold: true, reason } })
  const release = () => post(open, 'release-starts')
  const active = async () => (await open.place.world.runs.list('main', { state: 'running', limit: 500 })).runs.length
  /** No run lives and no place is held: whatever was owed at the stop is done by then. */
  const atRest = () =>
    eventually(async () => (await active()) === 0 && (await holders(open)).length === 0, 'no active run, no place')

  describe(`stop-all with hold, on ${store}`, () => {
    afterEach(() => open.close())

    test(
      'stops what there is and refuses starts, naming who and since when, until they are released',
      daily,
      async () => {
        await opened({ max_runs: 5 })
        await Promise.all([startOf(open, HOLDS), startOf(open, HOLDS)])
        const { json } = await holdAll()
        expect(json).toMatchObject({
          stopped: 2,
          hold: { reason: 'the model is wrong', by: expect.stringMatching(/^user:/) },
        })
        await atRest()
        const refused = await startOf(open, QUICK)
        expect([refused.status, refused.json.code]).toEqual([409, 'starts_on_hold'])
        expect(refused.json.facts).toEqual(json.hold)
        expect(refused.json.detail).toContain('the model is wrong')
        expect((await post(open, 'get-safety', { body: null })).json).toMatchObject({ hold: json.hold, active_runs: 0 })
        expect((await release()).json).toEqual({ released: true, started: 0 })
        expect((await release()).json).toEqual({ released: false, started: 0 })
        expect((await post(open, 'get-safety', { body: null })).json.hold).toBeNull()
        expect((await startOf(open, QUICK)).status).toBe(201)
      },
    )

    test('refuses runs that continue another one', daily, async () => {
      await opened({})
      const { json } = await startOf(open, QUICK)
      await open.ended(String(json.run_id))
      await holdAll()
      const refused = await startOf(open, QUICK, { continues: json.run_id })
      expect(refused.json.code).toBe('starts_on_hold')
    })

    test('without hold starts go on', daily, async () => {
      await opened({})
      await startOf(open, HOLDS)
      expect((await post(open, 'stop-all')).json).toMatchObject({ stopped: 1 })
      expect((await startOf(open, QUICK)).status).toBe(201)
    })

    test('leaves no active run and no place under concurrent starts, whichever comes first', {
      ...daily,
      timeout: 60_000,
    }, async () => {
      await opened({ max_runs: 500 })
      for (let round = 0; round < 3; round += 1) {
        const starts = Array.from({ length: 20 }, async (_, i) => {
          await new Promise((resolve) => setTimeout(resolve, i))
          return startOf(open, HOLDS)
        })
        await new Promise((resolve) => setTimeout(resolve, 8))
        await holdAll()
        const answers = await Promise.all(starts)
        expect(answers.every(({ status, json }) => status === 201 || json.code === 'starts_on_hold')).toBe(true)
        await atRest()
        await release()
      }
    })

    test(
      'catches a start between its first look and its record, and one between its record and its start',
      daily,
      async () => {
        const runs = await opened({ max_runs: 5 })
        const { world } = open.place
        const hold = () => runs.holdStarts('main', { by: 'user:ana', at: new Date().toISOString() })
        const before: RunStore['create'] = async (run) => {
          await hold()
          return runs.create(run)
        }
        const after: RunStore['create'] = async (run) => {
          const made = await runs.create(run)
          await hold()
          return made
        }
        for (const create of [before, after]) {
          Object.assign(world, { runs: { ...runs, create } })
          const { status, json } = await startOf(open, HOLDS)
          Object.assign(world, { runs })
          expect([status, json.code]).toEqual([409, 'starts_on_hold'])
          const [run] = (await runs.list('main', { limit: 1 })).runs
          expect(run?.head.state).toBe('cancelled')
          expect((await open.events(run?.run_id ?? '')).at(-1)?.data).toMatchObject({ code: 'starts_on_hold' })
          await noHolders(open)
          await release()
        }
      },
    )

    test('catches a run whose start died after its record: it is cancelled instead of started', daily, async () => {
      const runs = await opened({ max_runs: 5 }, { sweep_ms: 0 })
      const { world } = open.place
      const dies = () => Promise.reject(new Error('died'))
      Object.assign(world, { machine: { ...world.machine, start: dies } })
      const { json } = await startOf(open, HOLDS)
      await runs.holdStarts('main', { by: 'user:ana', at: new Date().toISOString() })
      await open.place.invoke('start-run', { tenant: 'main', run_id: json.run_id })
      expect(await stateOf(open, String(json.run_id))).toBe('cancelled')
      await noHolders(open)
    })

    test('releases nothing from the queue until the starts are', daily, async () => {
      const runs = await opened({ max_runs: 1, queue: true })
      const first = String((await startOf(open, HOLDS)).json.run_id)
      const second = String((await startOf(open, HOLDS)).json.run_id)
      await runs.holdStarts('main', { by: 'user:ana', at: new Date().toISOString() })
      await post(open, 'stop-run', { run_id: first })
      await noHolders(open)
      await open.place.invoke('sweep', {})
      expect(await stateOf(open, second)).toBe('pending')
      // The end of the first run may look at the queue at the same moment, and be the one that starts it.
      expect((await release()).json).toMatchObject({ released: true })
      await open.until(second, ({ type }) => type === 'block:waiting')
    })

    test('stops queued runs too', daily, async () => {
      const runs = await opened({ max_runs: 1, queue: true })
      for (let i = 0; i < 3; i += 1) await startOf(open, HOLDS)
      expect((await holdAll()).json.stopped).toBe(3)
      await atRest()
      await eventually(async () => (await runs.queued('main', 10)).length === 0, 'the queue is empty')
    })

    test('finds a run the list does not show yet by its place', async () => {
      const runs = await opened({})
      const { json } = await startOf(open, HOLDS)
      // An index of DynamoDB is behind for a moment.
      Object.assign(open.place.world, { runs: { ...runs, list: async () => ({ runs: [] }) } })
      expect((await holdAll()).json.stopped).toBe(1)
      Object.assign(open.place.world, { runs })
      expect(await stateOf(open, String(json.run_id))).toBe('cancelled')
    })
  })
}
