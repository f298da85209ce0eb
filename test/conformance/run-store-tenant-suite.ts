import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LeasePool, QueuedRun, RunKey, RunStore } from '../../shared/runs/run-store.ts'
import { atMost, WHOLE } from '../how-much.ts'
import { goalAttemptTests } from './run-store-attempts-suite.ts'
import { bulkTests } from './run-store-bulk-suite.ts'
import { ending, keyOf, newRun, time } from './run-store-fixture.ts'
import { keyQueueTests } from './run-store-key-queue-suite.ts'
import { pauseTests } from './run-store-pause-suite.ts'
import { restTests } from './run-store-rest-suite.ts'
import { slackItemTests } from './run-store-slack-suite.ts'
import { viewTests } from './run-store-view-suite.ts'
import { webhookItemTests } from './run-store-webhooks-suite.ts'

type Store = () => RunStore

/** What is a tenant's and not one run's: leases, the queue, those of keys, the hold of starts, rates, noted requests, turns, lineages. */
export function tenantItemTests(store: Store, heavy: string[]): void {
  describe('leases', () => leaseTests(store, heavy))
  describe('the queue', { tags: heavy }, () => queueTests(store))
  keyQueueTests(store, heavy)
  describe('rest', { tags: heavy }, () => restTests(store))
  describe('pauses', { tags: heavy }, () => pauseTests(store))
  describe('the hold of starts', { tags: heavy }, () => holdTests(store))
  describe('the request rate', () => rateTests(store, heavy))
  describe('stored bytes', { tags: heavy }, () => storedTests(store))
  describe('lineages', () => lineageTests(store, heavy))
  bulkTests(store)
  viewTests(store)
  goalAttemptTests(store, heavy)
  slackItemTests(store, heavy)
  webhookItemTests(store, heavy)
}

let pools = 0

/** What is done with holders one after another; the cap is that of takings. */
const leaseStep = fc.record({
  what: fc.constantFrom('take', 'take', 'drop', 'extend'),
  first: fc.nat(100),
  count: fc.integer({ min: 1, max: 30 }),
  cap: fc.constantFrom(0, 3, 20, 32, 33, 40, 70, 100),
  ms: fc.nat(1_000),
})
type LeaseStep = typeof leaseStep extends fc.Arbitrary<infer T> ? T : never

async function takeStep(store: RunStore, pool: LeasePool, held: Map<string, string>, step: LeaseStep): Promise<void> {
  const until = time(step.ms)
  const holders = Array.from({ length: step.count }, (_, i) => `run_${step.first + i}`)
  const take = async (holder: string) => {
    const fits = held.has(holder) || held.size < step.cap
    expect(await store.takeLease(pool, holder, until, step.cap)).toBe(fits)
    if (fits) held.set(holder, until)
  }
  const drop = async (holder: string) => {
    await store.dropLease(pool, holder)
    held.delete(holder)
  }
  if (step.what !== 'extend') {
    for (const holder of holders) await (step.what === 'take' ? take(holder) : drop(holder))
    return
  }
  await store.extendLeases(pool, holders, until)
  const moved = holders.filter((holder) => (held.get(holder) ?? until) < until)
  for (const holder of moved) held.set(holder, until)
}

const many = (n: number) => Array.from({ length: n }, (_, i) => `h${i}`)
const RUNS = { tenant: 'main', name: 'runs' }

function storedTests(store: Store): void {
  const ttl = 4_102_444_800
  const count = (tenant: string, week: string, bytes: number) => store().countStored(tenant, { week, bytes, ttl })

  test('are those of the weeks asked for, and of one tenant', async () => {
    expect(await store().storedSince('main', '2026-01-05')).toBe(0)
    await count('main', '2025-12-29', 1)
    await count('main', '2026-01-05', 20)
    await count('main', '2026-01-12', 300)
    await count('main', '2026-01-12', 4_000)
    await count('other', '2026-01-12', 50_000)
    expect(await store().storedSince('main', '2026-01-05')).toBe(4_320)
    expect(await store().storedSince('main', '2026-01-12')).toBe(4_300)
    expect(await store().storedSince('main', '2026-01-19')).toBe(0)
    expect(await store().storedSince('other', '2025-12-29')).toBe(50_000)
  })

  test('lose none of a hundred that come at once', async () => {
    await Promise.all(Array.from({ length: 100 }, () => count('main', '2026-01-05', 2 ** 40)))
    expect(await store().storedSince('main', '2026-01-05')).toBe(100 * 2 ** 40)
  })
}

function leaseTests(store: Store, tags: string[]): void {
  test('a hundred at once with a cap of 20: exactly 20 have one', { tags }, async () => {
    const taken = await Promise.all(many(100).map((holder) => store().takeLease(RUNS, holder, time(1), 20)))
    const winners = many(100).filter((_, i) => taken[i])
    expect(winners).toHaveLength(20)
    expect(Object.keys(await store().leases(RUNS)).sort()).toEqual(winners.sort())
  })

  test('taken again it is the same lease, with the new end, however full the pool is', async () => {
    for (const until of [time(1), time(2)]) expect(await store().takeLease(RUNS, 'a', until, 1)).toBe(true)
    expect(await store().takeLease(RUNS, 'b', time(3), 1)).toBe(false)
    expect(await store().takeLease(RUNS, 'a', time(3), 0)).toBe(true)
    expect(await store().leases(RUNS)).toEqual({ a: time(3) })
  })

  test('fifty times the same taking at once is one lease', async () => {
    const taken = await Promise.all(Array.from({ length: 50 }, () => store().takeLease(RUNS, 'a', time(1), 1)))
    expect(taken).toEqual(taken.map(() => true))
    expect(await store().leases(RUNS)).toEqual({ a: time(1) })
  })

  test('an end alone frees nothing; dropping it does, and dropping it again does nothing', async () => {
    await store().takeLease(RUNS, 'a', time(-1_000_000), 1)
    expect(await store().takeLease(RUNS, 'b', time(1), 1)).toBe(false)
    for (let i = 0; i < 2; i += 1) await store().dropLease(RUNS, 'a')
    expect(await store().takeLease(RUNS, 'b', time(1), 1)).toBe(true)
    await store().dropLease(RUNS, 'a')
    expect(await store().leases(RUNS)).toEqual({ b: time(1) })
  })

  test('a drop that names another end than it has does nothing', async () => {
    await store().takeLease(RUNS, 'a', time(2), 1)
    await store().dropLease(RUNS, 'a', time(1))
    expect(await store().leases(RUNS)).toEqual({ a: time(2) })
    await store().dropLease(RUNS, 'a', time(2))
    expect(await store().leases(RUNS)).toEqual({})
  })

  test('a cap below one admits nobody, and leaves nothing', async () => {
    expect(await store().takeLease(RUNS, 'a', time(1), 0)).toBe(false)
    expect(await store().leases(RUNS)).toEqual({})
  })

  test('extending moves the ends of those who have one, never back; who has none gets none', async () => {
    for (const [holder, ms] of [
      ['a', 1],
      ['b', 9],
      ['c', 1],
    ] as const) {
      await store().takeLease(RUNS, holder, time(ms), 9)
    }
    await store().extendLeases(RUNS, ['a', 'b', 'd'], time(5))
    expect(await store().leases(RUNS)).toEqual({ a: time(5), b: time(9), c: time(1) })
    await store().extendLeases({ ...RUNS, name: 'nobody' }, ['a'], time(5))
    expect(await store().leases({ ...RUNS, name: 'nobody' })).toEqual({})
  })

  test('an extension and a hundred takings and drops at once lose nothing of each other', { tags }, async () => {
    const [staying, going, coming] = ['s', 'g', 'c'].map((kind) => many(40).map((name) => kind + name))
    for (const holder of [...(staying ?? []), ...(going ?? [])]) await store().takeLease(RUNS, holder, time(1), 1_000)
    await Promise.all([
      store().extendLeases(RUNS, [...(staying ?? []), ...(going ?? [])], time(5)),
      ...(going ?? []).map((holder) => store().dropLease(RUNS, holder)),
      ...(coming ?? []).map((holder) => store().takeLease(RUNS, holder, time(2), 1_000)),
    ])
    const expected = [...(staying ?? []).map((h) => [h, time(5)]), ...(coming ?? []).map((h) => [h, time(2)])]
    expect(await store().leases(RUNS)).toEqual(Object.fromEntries(expected))
  })

  test('a hundred and fifty at once with a cap of 100: exactly 100 have one', { tags }, async () => {
    const all = many(150)
    const taken = await Promise.all(all.map((holder) => store().takeLease(RUNS, holder, time(1), 100)))
    const winners = all.filter((_, i) => taken[i])
    expect(winners).toHaveLength(100)
    expect(Object.keys(await store().leases(RUNS)).sort()).toEqual(winners.sort())
    // Who is given back makes room wherever it lay.
    await Promise.all(winners.map((holder) => store().dropLease(RUNS, holder)))
    expect(await store().leases(RUNS)).toEqual({})
  })

  test('any sequence of takings under any caps, drops and extensions is that of one map', { tags }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(leaseStep, { minLength: 20, maxLength: 120 }), async (steps) => {
        pools += 1
        const pool = { tenant: 'main', name: `provider/${pools}` }
        const held = new Map<string, string>()
        for (const step of steps) await takeStep(store(), pool, held, step)
        expect(await store().leases(pool)).toEqual(Object.fromEntries(held))
      }),
      { numRuns: atMost(40, 8) },
    )
  })

  test.runIf(WHOLE)('extends a thousand, which is the most a pool holds', { timeout: 60_000 }, async () => {
    for (const holder of many(1_000)) await store().takeLease(RUNS, holder, time(1), 5_000)
    expect(await store().takeLease(RUNS, 'one more', time(1), 5_000)).toBe(false)
    await store().extendLeases(RUNS, many(1_000), time(2))
    expect(new Set(Object.values(await store().leases(RUNS)))).toEqual(new Set([time(2)]))
  })

  test('pools and tenants are each their own; a holder may have any name', async () => {
    const pools = [RUNS, { ...RUNS, tenant: 'other' }, { ...RUNS, name: 'provider/a' }, { ...RUNS, name: 'provider/b' }]
    const holders = ['run/0.3/1', 'a.b', '#0', ':0', 'sizeOf[1]', 'ü']
    for (const pool of pools) {
      for (const holder of holders) expect(await store().takeLease(pool, holder, time(1), 6)).toBe(true)
      expect(await store().takeLease(pool, 'x', time(1), 6)).toBe(false)
    }
    for (const holder of holders) await store().dropLease(RUNS, holder)
    expect(await Promise.all(pools.map(async (pool) => Object.keys(await store().leases(pool)).length))).toEqual([
      0, 6, 6, 6,
    ])
  })
}

const place = (n: number, ms: number): QueuedRun => ({ ...keyOf(newRun(n).meta), at: time(ms) })
const RELEASE = { at: time(50_000), deadline_at: time(9_000_000), check_at: time(110_000) }

async function queuedRun(store: Store, n: number): Promise<RunKey> {
  const run = { ...newRun(n), queued: true as const, outbox: [] }
  await store().create(run)
  return keyOf(run.meta)
}

function queueTests(store: Store): void {
  test('is in order of rank, then run; the first so many', async () => {
    const places = [place(3, 5), place(1, 20), place(4, 5), place(2, 1)]
    for (const one of [...places, ...places]) await store().enqueue(one)
    const order = [place(2, 1), place(3, 5), place(4, 5), place(1, 20)]
    expect(await store().queued('main', 10)).toEqual(order)
    expect(await store().queued('main', 2)).toEqual(order.slice(0, 2))
    expect(await store().queued('other', 10)).toEqual([])
  })

  test('a place is left once, and leaving it again does nothing', async () => {
    await store().enqueue(place(1, 1))
    await store().enqueue(place(2, 2))
    for (let i = 0; i < 2; i += 1) await store().dequeue(place(1, 1))
    expect(await store().queued('main', 10)).toEqual([place(2, 2)])
  })

  test('holds a thousand', async () => {
    const places = Array.from({ length: atMost(1_000) }, (_, i) => place(i, i))
    await Promise.all(places.map((one) => store().enqueue(one)))
    expect(await store().queued('main', 2_000)).toEqual(places)
  })

  test('a queued run says so, and owes its start once it is released', async () => {
    const run = await queuedRun(store, 1)
    expect(await store().head(run)).toMatchObject({ state: 'running', queued: true, outbox: [] })
    expect(await store().releaseQueued(run, RELEASE)).toBe(true)
    const head = await store().head(run)
    expect(head).not.toHaveProperty('queued')
    const { at, deadline_at, check_at } = RELEASE
    expect(head).toMatchObject({ deadline_at, check_at, outbox: [{ id: 'start', at, kind: 'start_run' }], seq: 1 })
    expect(await store().due(check_at, 10)).toEqual([run])
  })

  test('twenty who release it at once: one does, and a later one changes nothing', async () => {
    const run = await queuedRun(store, 1)
    const racers = Array.from({ length: 20 }, (_, i) => ({ ...RELEASE, at: time(50_000 + i) }))
    const done = await Promise.all(racers.map((release) => store().releaseQueued(run, release)))
    expect(done.filter(Boolean)).toHaveLength(1)
    await store().settleOutbox(run, ['start'])
    expect(await store().releaseQueued(run, RELEASE)).toBe(false)
    expect(await store().head(run)).toMatchObject({ outbox: [] })
  })

  test('nothing releases a run that has ended, was never queued, or is not there', async () => {
    const run = await queuedRun(store, 1)
    await store().append(ending(run))
    expect(await store().releaseQueued(run, RELEASE)).toBe(false)
    await store().create(newRun(2))
    expect(await store().releaseQueued(keyOf(newRun(2).meta), RELEASE)).toBe(false)
    expect(await store().releaseQueued(keyOf(newRun(3).meta), RELEASE)).toBe(false)
    expect(await store().head(keyOf(newRun(3).meta))).toBeUndefined()
  })

  test('a release races the end: either it owes its start and ended, or it owes none', async () => {
    for (let n = 1; n <= 10; n += 1) {
      const run = await queuedRun(store, n)
      const [released, ended] = await Promise.all([store().releaseQueued(run, RELEASE), store().append(ending(run))])
      const head = await store().head(run)
      expect(ended).toMatchObject({ ok: true })
      expect(head?.state).toBe('cancelled')
      expect(head?.outbox.map(({ id }) => id)).toEqual(released ? ['start'] : [])
    }
  })
}

function holdTests(store: Store): void {
  const hold = (ms: number, by = 'user:ana') => ({ by, at: time(ms), reason: 'too many' })

  test('is there from its writing to its release, a tenant each', async () => {
    expect(await store().startHold('main')).toBeUndefined()
    await store().holdStarts('main', { by: 'user:ana', at: time(1) })
    expect(await store().startHold('main')).toEqual({ by: 'user:ana', at: time(1) })
    expect(await store().startHold('other')).toBeUndefined()
    expect(await store().releaseStarts('other')).toBe(false)
    expect(await store().releaseStarts('main')).toBe(true)
    expect(await store().startHold('main')).toBeUndefined()
    expect(await store().releaseStarts('main')).toBe(false)
  })

  test('the newest stays, whichever was written last; after a release any counts', async () => {
    for (const ms of [2, 1, 3, 2]) await store().holdStarts('main', hold(ms))
    expect(await store().startHold('main')).toEqual(hold(3))
    await store().releaseStarts('main')
    await store().holdStarts('main', hold(1))
    expect(await store().startHold('main')).toEqual(hold(1))
  })

  test('of twenty who release it at once one did', async () => {
    await store().holdStarts('main', hold(1))
    const done = await Promise.all(Array.from({ length: 20 }, () => store().releaseStarts('main')))
    expect(done.filter(Boolean)).toHaveLength(1)
  })
}

function rateTests(store: Store, tags: string[]): void {
  test('fifty at once with a cap of 20: exactly 20 are counted', { tags }, async () => {
    const counted = await Promise.all(many(50).map(() => store().countRequest('main', 'user:ana', '12:00', 20)))
    expect(counted.filter(Boolean)).toHaveLength(20)
    expect(await store().countRequest('main', 'user:ana', '12:00', 20)).toBe(false)
    expect(await store().countRequest('main', 'user:ana', '12:00', 21)).toBe(true)
  })

  test('callers, windows and tenants are each their own; a cap below one admits nobody', async () => {
    const each = [
      ['main', 'user:ana', '12:00'],
      ['main', 'user:ana', '12:01'],
      ['main', 'user:bo', '12:00'],
      ['other', 'user:ana', '12:00'],
    ] as const
    for (const answer of [true, false]) {
      for (const [tenant, caller, window] of each) {
        expect(await store().countRequest(tenant, caller, window, 1)).toBe(answer)
      }
    }
    expect(await store().countRequest('main', 'user:cy', '12:00', 0)).toBe(false)
  })
}

function lineageTests(store: Store, tags: string[]): void {
  const link = (n: number, ms: number, from = 'run_0') =>
    ({ run_id: `run_${n}`, from, kind: 'retry', at: time(ms) }) as const

  test('has each run once, as it was linked first, oldest first', async () => {
    for (const one of [link(3, 5), link(1, 9), link(2, 5), link(3, 7), link(3, 1, 'run_1')]) {
      await store().linkRun('main', 'run_0', one)
    }
    expect(await store().lineage('main', 'run_0')).toEqual([link(2, 5), link(3, 5), link(1, 9)])
  })

  test('of two hundred at once none is lost; roots and tenants are each their own', { tags }, async () => {
    const links = Array.from({ length: 200 }, (_, i) => link(i, i))
    await Promise.all([...links, ...links].map((one) => store().linkRun('main', 'run_0', one)))
    expect(await store().lineage('main', 'run_0')).toEqual(links)
    expect(await store().lineage('main', 'run_00')).toEqual([])
    expect(await store().lineage('other', 'run_0')).toEqual([])
  })
}
