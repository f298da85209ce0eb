import { expect, test } from 'vitest'
import type { Rest } from '../../shared/runs/head.ts'
import type { RunKey, RunStore } from '../../shared/runs/run-store.ts'
import { at, ending, keyOf, newRun, step, time } from './run-store-fixture.ts'

type Store = () => RunStore

const REST: Rest = { since: time(10) }
const WANTS: Rest = { since: time(10), wants_at: time(20) }
const begin = { was: null, set: REST }
const refused = { ok: false, because: 'resting' }

/** A run that holds no slot: when one may begin to rest, what it refuses meanwhile, and how it ends. */
export function restTests(store: Store): void {
  const created = async (): Promise<RunKey> => {
    await store().create(newRun(1))
    return keyOf(newRun(1).meta)
  }
  const restOf = async (run: RunKey) => (await store().head(run, []))?.resting
  const claim = (run: RunKey, lane: string) => step(run, lane, at(1, 10), { start: { block: Number(lane), limit: 0 } })

  test('begins and ends in the append that says so, and nothing starts in between', async () => {
    const run = await created()
    expect(await restOf(run)).toBeUndefined()
    expect(await store().append(step(run, 'a1', at(0, 10), { rest: begin }))).toMatchObject({ ok: true })
    expect(await restOf(run)).toEqual(REST)
    expect(await store().append(claim(run, '1'))).toEqual(refused)
    expect(await store().append(step(run, '2', at(1, 10)))).toMatchObject({ ok: true })
    const back = { was: REST, set: null }
    expect(await store().append(step(run, 'a1', at(0, 90), { rest: back }))).toMatchObject({ ok: true })
    expect(await store().head(run)).not.toHaveProperty('resting')
    expect(await store().append(claim(run, '1'))).toMatchObject({ ok: true })
  })

  test('does not begin while something of the run works, nor twice', async () => {
    const run = await created()
    await store().append(claim(run, '1'))
    expect(await store().append(step(run, 'a2', at(0, 10), { rest: begin }))).toEqual(refused)
    expect(await store().moveRest(run, begin)).toBe(false)
    expect((await store().head(run))?.lanes).not.toHaveProperty('a2')
    await store().append(step(run, '1', at(1, 90), { end: { block: 1 } }))
    expect(await store().moveRest(run, begin)).toBe(true)
    expect(await store().moveRest(run, { was: null, set: { since: time(11) } })).toBe(false)
    expect(await restOf(run)).toEqual(REST)
  })

  test('is moved only from exactly where it is; with the deadline if that is given', async () => {
    const run = await created()
    await store().moveRest(run, begin)
    expect(await store().append(step(run, 'a1', at(0, 10), { rest: { was: WANTS, set: null } }))).toEqual(refused)
    expect(await store().moveRest(run, { was: REST, set: WANTS })).toBe(true)
    expect(await restOf(run)).toEqual(WANTS)
    expect(await store().moveRest(run, { was: REST, set: null })).toBe(false)
    expect(await store().append(claim(run, '1'))).toEqual(refused)
    expect(await store().moveRest(run, { was: WANTS, set: null }, time(99))).toBe(true)
    expect(await store().head(run)).toMatchObject({ deadline_at: time(99) })
    expect(await restOf(run)).toBeUndefined()
  })

  test('of twenty who end it at once one does', async () => {
    const run = await created()
    await store().moveRest(run, begin)
    const back = { was: REST, set: null }
    const done = await Promise.all(Array.from({ length: 20 }, () => store().moveRest(run, back)))
    expect(done.filter(Boolean)).toHaveLength(1)
  })

  test('races a claim: one of the two is there', async () => {
    for (let n = 1; n <= 10; n += 1) {
      await store().create(newRun(n))
      const run = keyOf(newRun(n).meta)
      const [rests, claims] = await Promise.all([store().moveRest(run, begin), store().append(claim(run, '1'))])
      expect([rests, claims.ok].filter(Boolean)).toHaveLength(1)
    }
  })

  test('does not move of a run that has ended, or is not there', async () => {
    const run = await created()
    await store().append(ending(run))
    expect(await store().moveRest(run, begin)).toBe(false)
    expect(await store().moveRest(keyOf(newRun(2).meta), begin)).toBe(false)
    expect(await store().head(keyOf(newRun(2).meta))).toBeUndefined()
  })

  test('a lease that was taken to go on is not dropped with the one of before', async () => {
    const pool = { tenant: 'main', name: 'runs' }
    await store().takeLease(pool, 'a', time(5), 1)
    await store().dropLease(pool, 'a', time(4))
    expect(await store().leases(pool)).toEqual({ a: time(5) })
    await store().dropLease(pool, 'a', time(6))
    expect(await store().leases(pool)).toEqual({})
  })
}
