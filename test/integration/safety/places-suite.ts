import { afterEach, describe, expect, test } from 'vitest'
import { runsPool, slotUntil } from '../../../shared/runs/run-store.ts'
import { atMost } from '../../how-much.ts'
import { block, child, deployDocument } from '../child-place.ts'
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
  WAITS,
} from './safety-place.ts'

const POOL = runsPool('main')
const long = () => slotUntil(Date.now())
const over = () => new Date(Date.now() - 1_000).toISOString()

/** How many runs of callers are active at once, on one kind of store. */
export function placesSuite(store: string, openSafe: OpenSafe): void {
  const daily = dailyOnSqlite(store)
  let open: TestPlace
  afterEach(() => open.close())
  const opened = async (...args: Parameters<OpenSafe>) => {
    open = await openSafe(...args)
    return open.place.world.runs
  }

  describe(`max_runs, on ${store}`, () => {
    test('is exact under a hundred simultaneous starts; the others are told when to come back', daily, async () => {
      await opened({ max_runs: 7 })
      const answers = await Promise.all(Array.from({ length: atMost(100, 30) }, () => startOf(open, HOLDS)))
      const started = answers.flatMap(({ status, json }) => (status === 201 ? [String(json.run_id)] : []))
      expect(started).toHaveLength(7)
      for (const { status, headers, json } of answers.filter((answer) => answer.status !== 201)) {
        expect([status, json.code, headers['retry-after']]).toEqual([429, 'too_many_runs', '30'])
        expect(json.facts).toMatchObject({ max_runs: 7, active: 7 })
      }
      expect([...(await holders(open))].sort()).toEqual(started.sort())
      await Promise.all(started.map((run_id) => post(open, 'stop-run', { run_id })))
      await noHolders(open)
      expect((await startOf(open, HOLDS)).status).toBe(201)
    })

    test('a run that ends, however it ends, gives its place back', daily, async () => {
      await opened({ max_runs: 1 })
      for (const dag of [QUICK, { name: 'asks', blocks: WAITS.blocks.map(timedOut) }, QUICK]) {
        const { status, json } = await startOf(open, dag)
        expect(status).toBe(201)
        await open.ended(String(json.run_id))
        await noHolders(open)
      }
    })

    test('a repeated key finds its run while all places are taken, and takes none', daily, async () => {
      await opened({ max_runs: 1 })
      const once = () => startOf(open, HOLDS, {}, { 'idempotency-key': 'k' })
      const answers = await Promise.all(Array.from({ length: 10 }, once))
      const ids = new Set(answers.map(({ json }) => json.run_id))
      expect([ids.size, answers.filter(({ status }) => status === 201).length]).toEqual([1, 1])
      expect(answers.every(({ status }) => status < 300)).toBe(true)
      const [run_id = ''] = [...ids]
      expect(await holders(open)).toEqual([run_id])
      expect((await startOf(open, HOLDS)).status).toBe(429)
      await post(open, 'stop-run', { run_id: String(run_id) })
      await noHolders(open)
      expect((await once()).json.run_id).toBe(run_id)
      expect(await holders(open)).toEqual([])
    })

    test('a start that fails on its way gives its place back', daily, async () => {
      await opened({ max_runs: 1 })
      const { world } = open.place
      const away = () => Promise.reject(new Error('away'))
      for (const port of [
        { objects: { ...world.objects, put: away } },
        { machine: { ...world.machine, ensure: away } },
        { runs: { ...world.runs, create: away } },
      ]) {
        const before = { ...world }
        Object.assign(world, port)
        expect((await startOf(open, QUICK)).status).toBe(500)
        Object.assign(world, before)
        expect(await holders(open)).toEqual([])
      }
      expect((await startOf(open, HOLDS)).status).toBe(201)
    })

    test('an answer that was lost after the run was written keeps its place', async () => {
      const runs = await opened({ max_runs: 1 })
      const create = async (run: Parameters<typeof runs.create>[0]) => {
        await runs.create(run)
        throw new Error('the answer was lost')
      }
      Object.assign(open.place.world, { runs: { ...runs, create } })
      expect((await startOf(open, HOLDS)).status).toBe(500)
      Object.assign(open.place.world, { runs })
      expect(await holders(open)).toHaveLength(1)
      expect((await startOf(open, HOLDS)).status).toBe(429)
    })

    test('children take no places', daily, async () => {
      await opened({ max_runs: 1 })
      deployDocument(open, 'inner', [block('work')])
      const { json } = await startOf(open, { name: 'outer', blocks: [child('sub', 'inner')] })
      const events = await open.ended(String(json.run_id))
      expect(events.at(-1)?.type).toBe('run:completed')
      await noHolders(open)
    })
  })

  describe(`places nobody holds, on ${store}:`, () => {
    test('a start that finds all taken drops them itself', async () => {
      const runs = await opened({ max_runs: 2 }, { sweep_ms: 0 })
      const { json } = await startOf(open, QUICK)
      const ended = String(json.run_id)
      await open.ended(ended)
      await noHolders(open)
      // Died before its HEAD; ended, and its release was lost.
      await runs.takeLease(POOL, `run_${'0'.repeat(26)}`, over(), 2)
      await runs.takeLease(POOL, ended, long(), 2)
      const [one, two, three] = [await startOf(open, HOLDS), await startOf(open, HOLDS), await startOf(open, HOLDS)]
      expect([one.status, two.status, three.status]).toEqual([201, 201, 429])
      expect([...(await holders(open))].sort()).toEqual([one.json.run_id, two.json.run_id].sort())
    })

    test('a start under way is no dead one', daily, async () => {
      const runs = await opened({ max_runs: 1 }, { sweep_ms: 0 })
      await runs.takeLease(POOL, `run_${'0'.repeat(26)}`, long(), 1)
      expect((await startOf(open, HOLDS)).status).toBe(429)
    })

    test('the sweep drops them, and extends those of live runs in one write', daily, async () => {
      const runs = await opened({ max_runs: 10 }, { sweep_ms: 0 })
      const live = await Promise.all([1, 2, 3].map(async () => String((await startOf(open, HOLDS)).json.run_id)))
      const ended = String((await startOf(open, QUICK)).json.run_id)
      await open.ended(ended)
      await eventually(async () => (await holders(open)).length === 3, 'the ended run gave its place back')
      const soon = new Date(Date.now() + 60_000).toISOString()
      const starting = `run_${'1'.repeat(26)}`
      await runs.takeLease(POOL, `run_${'0'.repeat(26)}`, over(), 10)
      for (const run_id of [...live, ended, starting]) await runs.takeLease(POOL, run_id, soon, 10)
      await open.place.invoke('sweep', {})
      const left = await runs.leases(POOL)
      expect(Object.keys(left).sort()).toEqual([...live, starting].sort())
      expect(left[starting]).toBe(soon)
      for (const run_id of live) expect(Date.parse(left[run_id] ?? '')).toBeGreaterThan(Date.now() + 800_000)
    })

    test('the sweep gives a live run that has none one, as soon as one is free', daily, async () => {
      const runs = await opened({ max_runs: 1 }, { sweep_ms: 0 })
      const run_id = String((await startOf(open, HOLDS)).json.run_id)
      await open.until(run_id, ({ type }) => type === 'block:waiting')
      const head = await runs.head({ tenant: 'main', run_id })
      await runs.dropLease(POOL, run_id)
      // Another run took it meanwhile: two places would be over the cap.
      const other = String((await startOf(open, HOLDS)).json.run_id)
      await runs.moveCheck({ tenant: 'main', run_id }, head?.check_at ?? '', over())
      await open.place.invoke('sweep', {})
      expect(await holders(open)).toEqual([other])
      await post(open, 'stop-run', { run_id: other })
      await noHolders(open)
      const later = await runs.head({ tenant: 'main', run_id })
      await runs.moveCheck({ tenant: 'main', run_id }, later?.check_at ?? '', over())
      await open.place.invoke('sweep', {})
      expect(await holders(open)).toEqual([run_id])
      expect(await stateOf(open, run_id)).toBe('waiting')
    })
  })

  test(`an execution aborted from outside fails its run and frees its place, on ${store}`, daily, async () => {
    const runs = await opened({ max_runs: 1 }, { sweep_ms: 0 })
    const run_id = String((await startOf(open, HOLDS)).json.run_id)
    await open.until(run_id, ({ type }) => type === 'block:waiting')
    const meta = await runs.meta({ tenant: 'main', run_id })
    await open.place.world.machine.stop(meta?.machine ?? '', run_id, 'by hand')
    const events = await open.ended(run_id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'execution_ended' } })
    await noHolders(open)
    expect((await startOf(open, HOLDS)).status).toBe(201)
  })
}

/** Nobody answers: the block fails, and its run. */
function timedOut<T extends { readonly approval: object }>(asking: T) {
  return { ...asking, approval: { ...asking.approval, timeout_sec: 1, on_timeout: 'fail' } }
}
