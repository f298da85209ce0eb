import { describe, expect, test } from 'vitest'
import type { Amount, RunBudget, Spent } from '../../shared/runs/budget.ts'
import { CHAIN_START, hashAfter } from '../../shared/runs/hash-chain.ts'
import type { NewRun, RunKey, RunStore } from '../../shared/runs/run-store.ts'
import { at, ending, keyOf, newRun, ready, step } from './run-store-fixture.ts'

type Store = () => RunStore

/** The ledger of a run, its closed hash chain and the stop of one block. */
export function ledgerTests(store: Store, heavy: string[]): void {
  describe('the ledger', () => budgetTests(store, heavy))
  describe('shares of a foreach block', { tags: heavy }, () => shareTests(store))
  describe('the bytes of bodies', () => storedTests(store, heavy))
  describe('the closed hash chain', () => sealTests(store, heavy))
  describe('STOP of a block', { tags: heavy }, () => stopTests(store))
}

const amount = (tokens: number, usd_micros = 0): Amount => ({ tokens, usd_micros })

async function begun(store: Store, caps: NewRun['caps']): Promise<RunKey> {
  const run = newRun(1)
  await store().create({ ...run, ...(caps === undefined ? {} : { caps }) })
  return keyOf(run.meta)
}

async function ledger(store: Store, run: RunKey): Promise<RunBudget | undefined> {
  return (await store().head(run, []))?.budget
}

const reserving = (run: RunKey, lane: string, reserve: Amount) => step(run, lane, at(1, 20), { reserve })
const settling = (run: RunKey, lane: string, reserved: Amount, spent: Spent) =>
  step(run, lane, at(1, 30), { settle: { reserved, spent } })

const NO_ROOM = { ok: false, because: 'budget' }
const NO_SHARE = { ok: false, because: 'share' }

function budgetTests(store: Store, tags: string[]): void {
  test('begins at zero under the caps the run was created with', async () => {
    const run = await begun(store, { cap_tokens: 100, cap_usd_micros: 5 })
    expect(await ledger(store, run)).toEqual({
      cap_tokens: 100,
      cap_usd_micros: 5,
      committed_tokens: 0,
      committed_usd_micros: 0,
      spent_tokens: 0,
      spent_usd_micros: 0,
      unpriced_tokens: 0,
    })
  })

  test('an estimate fits up to each cap to the unit, and a refused one leaves no trace', async () => {
    const run = await begun(store, { cap_tokens: 100, cap_usd_micros: 5 })
    expect(await store().append(reserving(run, '0', amount(101)))).toEqual(NO_ROOM)
    expect(await store().append(reserving(run, '0', amount(1, 6)))).toEqual(NO_ROOM)
    expect(await store().append(reserving(run, '0', amount(100, 5)))).toMatchObject({ ok: true })
    expect(await store().append(reserving(run, '1', amount(0, 1)))).toEqual(NO_ROOM)
    expect(await store().append(reserving(run, '1', amount(0, 0)))).toMatchObject({ ok: true })
    expect(await store().head(run)).toMatchObject({
      seq: 3,
      budget: { committed_tokens: 100, committed_usd_micros: 5 },
    })
  })

  test('fifty reservations at once: as many as fit, committed never over the cap', { tags }, async () => {
    const run = await begun(store, { cap_tokens: 100 })
    const lanes = Array.from({ length: 50 }, (_, i) => String(i))
    const done = await Promise.all(lanes.map((lane) => store().append(reserving(run, lane, amount(7, 3)))))
    expect(done.filter(({ ok }) => ok)).toHaveLength(14)
    for (const refused of done.filter(({ ok }) => !ok)) expect(refused).toEqual(NO_ROOM)
    expect(await ledger(store, run)).toMatchObject({ committed_tokens: 98, committed_usd_micros: 42, spent_tokens: 0 })
  })

  test('a cap is raised, never lowered and never made; what is committed stays', async () => {
    const run = await begun(store, { cap_tokens: 100 })
    await store().append(reserving(run, '0', amount(60)))
    const raising = (lane: string, raise: Partial<Amount>) => store().append(step(run, lane, at(1, 20), { raise }))
    expect(await raising('q1', { tokens: 200, usd_micros: 9 })).toMatchObject({ ok: true })
    expect(await raising('q2', { tokens: 150 })).toMatchObject({ ok: true })
    const raised = await ledger(store, run)
    expect(raised).toMatchObject({ cap_tokens: 200, committed_tokens: 60, committed_usd_micros: 0 })
    expect(raised).not.toHaveProperty('cap_usd_micros')
    expect(await store().append(reserving(run, '1', amount(141)))).toEqual(NO_ROOM)
    expect(await store().append(reserving(run, '1', amount(140)))).toMatchObject({ ok: true })
  })

  test('ten raises at once: the highest stands', async () => {
    const run = await begun(store, { cap_tokens: 10 })
    const raises = Array.from({ length: 10 }, (_, i) => step(run, `q${i}`, at(1, 20), { raise: { tokens: 20 + i } }))
    const done = await Promise.all(raises.map((raise) => store().append(raise)))
    expect(done.every(({ ok }) => ok)).toBe(true)
    expect(await ledger(store, run)).toMatchObject({ cap_tokens: 29, committed_tokens: 0 })
    expect(await store().append(reserving(run, '0', amount(29)))).toMatchObject({ ok: true })
  })

  test('an append that goes by where other lanes stand is refused once one of them has moved', async () => {
    const run = await begun(store, undefined)
    await store().append(step(run, '0', at(1, 60)))
    const asking = (lane: string, is: number | null, other: number | null = null) =>
      step(run, lane, at(1, 10), {
        while: [
          { lane: '0', is },
          { lane: '7', is: other },
        ],
      })
    expect(await store().append(asking('q9', null))).toEqual({ ok: false, because: 'already' })
    expect(await store().append(asking('q0', at(1, 50)))).toEqual({ ok: false, because: 'already' })
    expect(await store().append(asking('q0', at(1, 60)))).toMatchObject({ ok: true })
    expect(await store().append(asking('q1', at(1, 60), at(1, 10)))).toEqual({ ok: false, because: 'already' })
    await store().append(step(run, '7', at(1, 10)))
    expect(await store().append(asking('q1', at(1, 60)))).toEqual({ ok: false, because: 'already' })
    expect(await store().append(asking('q1', at(1, 60), at(1, 10)))).toMatchObject({ ok: true })
    await store().append(step(run, '0', at(1, 93)))
    expect(await store().append(asking('q3', at(1, 60), at(1, 10)))).toEqual({ ok: false, because: 'already' })
    expect(await store().append(asking('q2', at(2, 60), at(1, 10)))).toEqual({ ok: false, because: 'already' })
  })

  test('settling below the estimate gives the rest back, above it goes over the cap and closes it', async () => {
    const run = await begun(store, { cap_tokens: 100 })
    await store().append(reserving(run, '0', amount(60, 6)))
    await store().append(settling(run, '0', amount(60, 6), amount(10, 1)))
    expect(await ledger(store, run)).toMatchObject({ committed_tokens: 10, spent_tokens: 10, spent_usd_micros: 1 })
    await store().append(reserving(run, '1', amount(90)))
    await store().append(settling(run, '1', amount(90), amount(95, 4)))
    expect(await ledger(store, run)).toEqual({
      cap_tokens: 100,
      committed_tokens: 105,
      committed_usd_micros: 5,
      spent_tokens: 105,
      spent_usd_micros: 5,
      unpriced_tokens: 0,
    })
    expect(await store().append(reserving(run, '2', amount(0)))).toEqual(NO_ROOM)
  })

  test('a settle repeated, or by a writer who lost its lane, changes nothing', async () => {
    const run = await begun(store, { cap_tokens: 100 })
    await store().append(reserving(run, '0', amount(60)))
    const settle = settling(run, '0', amount(60), amount(40))
    const done = await Promise.all(Array.from({ length: 10 }, () => store().append(settle)))
    expect(done.filter(({ ok }) => ok)).toHaveLength(1)
    expect(await ledger(store, run)).toMatchObject({ committed_tokens: 40, spent_tokens: 40 })
  })

  test('one append settles a call and reserves the next, which must fit beside what is committed before it', async () => {
    const run = await begun(store, { cap_tokens: 100 })
    await store().append(reserving(run, '0', amount(60)))
    const settle = { reserved: amount(60), spent: amount(10) }
    const next = (tokens: number) => step(run, '0', at(1, 30), { settle, reserve: amount(tokens) })
    expect(await store().append(next(41))).toEqual(NO_ROOM)
    expect(await store().append(next(40))).toMatchObject({ ok: true })
    expect(await ledger(store, run)).toMatchObject({ committed_tokens: 50, spent_tokens: 10 })
  })

  test('without a cap everything is counted and nothing refused', async () => {
    const run = await begun(store, undefined)
    await store().append(reserving(run, '0', amount(10 ** 12, 10 ** 12)))
    await store().append(settling(run, '0', amount(10 ** 12, 10 ** 12), amount(3, 2)))
    expect(await ledger(store, run)).toEqual({
      committed_tokens: 3,
      committed_usd_micros: 2,
      spent_tokens: 3,
      spent_usd_micros: 2,
      unpriced_tokens: 0,
    })
  })

  test('of what is spent it counts the tokens that have no known price', async () => {
    const run = await begun(store, { cap_tokens: 100 })
    await store().append(settling(run, '0', amount(0), { tokens: 10, usd_micros: 0, unpriced_tokens: 10 }))
    await store().append(settling(run, '1', amount(0), { tokens: 9, usd_micros: 3, unpriced_tokens: 4 }))
    await store().append(settling(run, '2', amount(0), amount(1, 1)))
    expect(await ledger(store, run)).toMatchObject({ spent_tokens: 20, spent_usd_micros: 4, unpriced_tokens: 14 })
    expect((await store().list('main', { limit: 1 })).runs[0]?.head.budget.unpriced_tokens).toBe(14)
  })

  test('HEAD and lists say when a run ended and why, and of a live one neither', async () => {
    const run = await begun(store, undefined)
    expect(await store().head(run)).not.toHaveProperty('ended')
    const end = ending(run)
    await store().append(end)
    const ended = { at: end.at, code: 'stopped', reason: 'a person stopped it' }
    expect((await store().head(run, []))?.ended).toEqual(ended)
    expect((await store().list('main', { limit: 1 })).runs[0]?.head.ended).toEqual(ended)
  })

  test.each([
    [-1, 0],
    [0.5, 0],
    [0, Number.NaN],
    [2 ** 53, 0],
  ])('%d tokens and %d millionths are a bug', async (tokens, usd) => {
    const run = await begun(store, { cap_tokens: 1 })
    const bug = { name: 'Bug', code: 'append_amount' }
    await expect(store().append(reserving(run, '0', amount(tokens, usd)))).rejects.toMatchObject(bug)
    await expect(store().append(settling(run, '0', amount(0), amount(tokens, usd)))).rejects.toMatchObject(bug)
    expect(await store().head(run)).toMatchObject({ seq: 1 })
  })

  test('other refusals come first: terminal, already, full; then budget', async () => {
    const run = await begun(store, { cap_tokens: 1 })
    await store().append(step(run, '0', at(1, 10), { start: { block: 0, limit: 1 } }))
    const wanted = { reserve: amount(2) }
    const full = step(run, '1', at(1, 10), { ...wanted, start: { block: 1, limit: 1 } })
    expect(await store().append(full)).toEqual({ ok: false, because: 'full' })
    expect(await store().append(step(run, '0', at(1, 10), wanted))).toEqual({ ok: false, because: 'already' })
    await store().append(ending(run))
    expect(await store().append(reserving(run, '0', amount(2)))).toEqual({ ok: false, because: 'terminal' })
    expect(await store().append(settling(run, '0', amount(2), amount(2)))).toEqual({ ok: false, because: 'terminal' })
    expect(await ledger(store, run)).toMatchObject({ committed_tokens: 0 })
  })
}

function storedTests(store: Store, tags: string[]): void {
  const stored = async (run: RunKey) => (await store().head(run, []))?.stored_bytes

  test('begin with what was stored for the start, and are added to by appends that were taken', async () => {
    const born = newRun(1)
    await store().create({ ...born, stored_bytes: 700 })
    const run = keyOf(born.meta)
    expect(await stored(run)).toBe(700)
    await store().append(step(run, '0', at(1, 20), { stored_bytes: 41 }))
    await store().append(step(run, '0', at(1, 20), { stored_bytes: 5_000 }))
    await store().append(step(run, '1', at(1, 20)))
    expect(await stored(run)).toBe(741)
    await store().append({ ...ending(run), stored_bytes: 9 })
    await store().append(step(run, '2', at(1, 20), { stored_bytes: 5_000 }))
    expect((await store().head(run))?.stored_bytes).toBe(750)
    expect((await store().list('main', { limit: 5 })).runs[0]?.head.stored_bytes).toBe(750)
  })

  test('begin at nothing, and lose none of fifty that come at once', { tags }, async () => {
    const run = await begun(store, undefined)
    expect(await stored(run)).toBe(0)
    const lanes = Array.from({ length: 50 }, (_, i) => String(i))
    await Promise.all(lanes.map((lane) => store().append(step(run, lane, at(1, 20), { stored_bytes: 10 ** 9 }))))
    expect(await stored(run)).toBe(50 * 10 ** 9)
  })
}

function shareTests(store: Store): void {
  const share = (cap_tokens: number, block = 0) => ({ share: { block, cap_tokens } })

  test('items side by side fit under what their block has left, together; the run counts them too', async () => {
    const run = await begun(store, { cap_tokens: 1_000 })
    const items = Array.from({ length: 20 }, (_, i) => String(i + 5))
    const all = items.map((lane) => store().append({ ...reserving(run, lane, amount(7)), ...share(50) }))
    const done = await Promise.all(all)
    expect(done.filter(({ ok }) => ok)).toHaveLength(7)
    for (const refused of done.filter(({ ok }) => !ok)) expect(refused).toEqual(NO_SHARE)
    expect(await ledger(store, run)).toMatchObject({ committed_tokens: 49 })
    expect(await store().append({ ...reserving(run, '90', amount(50)), ...share(50, 1) })).toMatchObject({ ok: true })
  })

  test('settling gives back to both; the end of the items forgets what they shared', async () => {
    const run = await begun(store, { cap_tokens: 1_000 })
    await store().append(step(run, '0', at(1, 10), { open_items: { block: 0 } }))
    await store().append({ ...reserving(run, '5', amount(40)), ...share(50) })
    await store().append({ ...settling(run, '5', amount(40), amount(10)), ...share(50) })
    expect(await store().append({ ...reserving(run, '6', amount(41)), ...share(50) })).toEqual(NO_SHARE)
    expect(await store().append({ ...reserving(run, '6', amount(40)), ...share(50) })).toMatchObject({ ok: true })
    await store().append(step(run, '0', at(1, 90), { drop_items: { block: 0 } }))
    expect(await store().append({ ...reserving(run, '7', amount(50)), ...share(50) })).toMatchObject({ ok: true })
    expect(await ledger(store, run)).toMatchObject({ committed_tokens: 100, spent_tokens: 10 })
  })

  test('an estimate above the share alone is refused, first of all or later', async () => {
    const run = await begun(store, undefined)
    for (let i = 0; i < 2; i += 1) {
      expect(await store().append({ ...reserving(run, '5', amount(51)), ...share(50) })).toEqual(NO_SHARE)
      await store().append({ ...reserving(run, '6', amount(0)), ...share(50) })
    }
  })
}

function sealTests(store: Store, tags: string[]): void {
  const holds = async (run: RunKey) => {
    const sealed = await store().sealed(run)
    const events = await store().events(run, 0, 10_000)
    expect(sealed?.hash).toBe(hashAfter(events.slice(0, sealed?.seq)))
    return { sealed: sealed?.seq ?? -1, written: events.length }
  }

  test('is nothing of an unknown run, the start of the chain of a new one', async () => {
    expect(await store().sealed(keyOf(newRun(1).meta))).toBeUndefined()
    const run = await begun(store, undefined)
    expect(await store().sealed(run)).toEqual({ seq: 0, hash: CHAIN_START })
  })

  test('follows the events in steps, is of them at every point, and has them all at the end', async () => {
    const run = await begun(store, undefined)
    for (let i = 1; i <= 30; i += 1) {
      const events = Array.from({ length: 1 + (i % 5) }, () => ready(`ü${i}`))
      await store().append(step(run, String(i), at(1, 10), { events }))
      const { sealed, written } = await holds(run)
      expect(written - sealed).toBeLessThan(16)
    }
    await store().append(ending(run))
    const { sealed, written } = await holds(run)
    expect([written, sealed]).toEqual([92, 92])
  })

  test('holds after many writers at once', { tags }, async () => {
    const run = await begun(store, undefined)
    const lanes = Array.from({ length: 40 }, (_, i) => String(i))
    await Promise.all(lanes.map((lane) => store().append(step(run, lane, at(1, 10)))))
    await holds(run)
    await Promise.all([store().append(ending(run)), ...lanes.map((lane) => store().append(step(run, lane, at(1, 90))))])
    await store().moveCheck(run, newRun(1).check_at, undefined)
    const { sealed, written } = await holds(run)
    expect(sealed).toBe(written)
  })
}

function stopTests(store: Store): void {
  test('a block that ends with so many of its items takes them out of the running set, and no others', async () => {
    const run = await begun(store, undefined)
    await store().append(step(run, '3', at(1, 10), { open_items: { block: 3 }, start: { block: 3, limit: 0 } }))
    for (const item of [0, 7, 12, 999]) {
      const item_of = { block: 3, below: at(1, 90) }
      await store().append(step(run, `3.${item}`, at(1, 10), { item_of, start: { block: 3, item, limit: 0 } }))
    }
    await store().append(step(run, '33', at(1, 10), { start: { block: 33, limit: 0 } }))
    const end = step(run, '3', at(1, 90), { end: { block: 3, items: 1_000 }, drop_items: { block: 3 } })
    expect(await store().append(end)).toMatchObject({ ok: true })
    expect((await store().head(run))?.running).toEqual(['33'])
    const one_more = step(run, '34', at(1, 10), { start: { block: 34, limit: 2 } })
    expect(await store().append(one_more)).toMatchObject({ ok: true })
  })

  test('stops that block alone; STOP of the run stops every one', async () => {
    const run = await begun(store, undefined)
    for (let i = 0; i < 2; i += 1) await store().putStop(run, 0)
    const seen = () => Promise.all([undefined, 0, 1].map((block) => store().stopped(run, block)))
    expect(await seen()).toEqual([false, true, false])
    await store().putStop(run)
    expect(await seen()).toEqual([true, true, true])
    expect(await store().stopped(keyOf(newRun(2).meta), 0)).toBe(false)
  })
}
