import { describe, expect, test } from 'vitest'
import type { HeadModule } from '../../shared/runs/head.ts'
import type { Append, RunKey, RunStore } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import { atMost } from '../how-much.ts'
import { at, ending, keyOf, newRun, ready, step, time } from './run-store-fixture.ts'
import { cachedResult } from './run-store-model.ts'

/** What a run store promises for fan-outs, bounces, children and kept results. */
export function languageTests(store: () => RunStore, heavy: string[]): void {
  describe('foreach items', () => itemTests(store, heavy))
  describe('projections of items', { tags: heavy }, () => itemProjectionTests(store))
  describe('bounce modules and children', () => linkTests(store))
  describe('kept results', { tags: heavy }, () => cacheTests(store))
}

const already = { ok: false, because: 'already' }

async function begun(store: () => RunStore, n = 1): Promise<RunKey> {
  const run = newRun(n)
  await store().create(run)
  return keyOf(run.meta)
}

/** A step of an item of block 5 in epoch 0. */
function itemStep(run: RunKey, item: number, place: number, over: Partial<Append> = {}): Append {
  return step(run, `5.${item}`, place, { item_of: { block: 5, below: at(1, 90) }, ...over })
}

const opening = (run: RunKey, place = at(1, 10)) => step(run, '5', place, { open_items: { block: 5 } })
const closing = (run: RunKey, place = at(1, 90)) => step(run, '5', place, { drop_items: { block: 5 } })

function itemTests(store: () => RunStore, tags: string[]): void {
  test('items have lanes from the opening of their block to its end; blocks beside it keep theirs', async () => {
    const run = await begun(store)
    await store().append(step(run, '50', 10))
    expect(await store().append(itemStep(run, 0, at(1, 10)))).toEqual(already)
    expect(await store().append(opening(run))).toEqual({ ok: true, seq: 3 })
    expect(await store().append(itemStep(run, 0, at(1, 10)))).toEqual({ ok: true, seq: 4 })
    expect(await store().append(itemStep(run, 12, at(2, 10)))).toEqual({ ok: true, seq: 5 })
    const rest = { run: 10, '50': 10 }
    const lanes = { ...rest, '5': at(1, 10), '5.0': at(1, 10), '5.12': at(2, 10) }
    expect((await store().head(run))?.lanes).toEqual(lanes)
    expect((await store().head(run, ['5.12', '5.7', '5']))?.lanes).toEqual({ '5': at(1, 10), '5.12': at(2, 10) })
    expect(await store().append(closing(run))).toEqual({ ok: true, seq: 6 })
    expect((await store().head(run))?.lanes).toEqual({ ...rest, '5': at(1, 90) })
    expect((await store().events(run, 0, 10)).map(({ id }) => id)).toContain('5.12/2010/0')
  })

  test('a late item writes nothing after the end of its block, nor into a later epoch', async () => {
    const run = await begun(store)
    await store().append(opening(run))
    await store().append(itemStep(run, 0, at(1, 10)))
    await store().append(closing(run))
    expect(await store().append(itemStep(run, 0, at(1, 90)))).toEqual(already)
    await store().append(opening(run, 1_000_000 + at(1, 10)))
    expect((await store().head(run))?.lanes).toEqual({ run: 10, '5': 1_001_010 })
    expect(await store().append(itemStep(run, 0, at(1, 90)))).toEqual(already)
    const now = { item_of: { block: 5, below: 1_001_090 } }
    expect(await store().append(itemStep(run, 0, 1_001_010, now))).toMatchObject({ ok: true })
  })

  test('an item step is guarded like every other, and repeated at no cost', async () => {
    const run = await begun(store)
    await store().append(opening(run))
    expect(await store().append(opening(run))).toEqual(already)
    await store().append(itemStep(run, 3, at(1, 10), { guard: { is: null } }))
    expect(await store().append(itemStep(run, 3, at(1, 10), { guard: { is: null } }))).toEqual(already)
    expect(await store().append(itemStep(run, 3, at(1, 30), { guard: { is: at(1, 10) } }))).toMatchObject({ ok: true })
    await store().append(ending(run))
    expect(await store().append(itemStep(run, 4, at(1, 10)))).toEqual({ ok: false, because: 'terminal' })
  })

  test('a running item counts against the limit like a block; HEAD names both by lane', async () => {
    const run = await begun(store)
    await store().append(opening(run))
    const claim = (item: number) => itemStep(run, item, at(1, 10), { start: { block: 5, item, limit: 3 } })
    expect(await store().append(claim(10))).toMatchObject({ ok: true })
    expect(await store().append(claim(2))).toMatchObject({ ok: true })
    await store().append(step(run, '4', at(1, 10), { start: { block: 4, limit: 3 } }))
    expect(await store().append(claim(3))).toEqual({ ok: false, because: 'full' })
    expect((await store().head(run, []))?.running).toEqual(['4', '5.2', '5.10'])
    await store().append(itemStep(run, 2, at(1, 90), { end: { block: 5, item: 2 } }))
    expect((await store().head(run, []))?.running).toEqual(['4', '5.10'])
    expect(await store().append(claim(3))).toMatchObject({ ok: true })
  })

  test('none begins once more have failed for good than it says; those at work end as they do', async () => {
    const run = await begun(store)
    await store().append(opening(run))
    const upTo = (most_failed: number) => ({ item_of: { block: 5, below: at(1, 90), most_failed } })
    const begin = (item: number, most: number, place = at(1, 10)) => itemStep(run, item, place, upTo(most))
    for (const item of [0, 1, 2]) expect(await store().append(begin(item, 0))).toMatchObject({ ok: true })
    await store().append(itemStep(run, 0, at(1, 91)))
    expect(await store().append(begin(3, 0))).toEqual({ ok: false, because: 'items_failed' })
    expect(await store().append(begin(3, 1))).toMatchObject({ ok: true })
    await store().append(itemStep(run, 1, at(1, 50)))
    expect(await store().append(begin(1, 0, at(2, 10)))).toEqual({ ok: false, because: 'items_failed' })
    await store().append(itemStep(run, 2, at(1, 91)))
    expect(await store().append(itemStep(run, 2, at(1, 91)))).toEqual(already)
    expect(await store().append(begin(4, 1))).toEqual({ ok: false, because: 'items_failed' })
    expect(await store().append(begin(4, 2))).toMatchObject({ ok: true })
    expect(await store().append(itemStep(run, 3, at(1, 90)))).toMatchObject({ ok: true })
  })

  test('counts the items that failed anew where their block begins again, and those of another block apart', async () => {
    const run = await begun(store)
    const most_failed = 0
    await store().append(opening(run))
    await store().append(itemStep(run, 0, at(1, 91)))
    await store().append(step(run, '6', at(1, 10), { open_items: { block: 6 } }))
    const beside = { item_of: { block: 6, below: at(1, 90), most_failed } }
    expect(await store().append(step(run, '6.0', at(1, 10), beside))).toMatchObject({ ok: true })
    await store().append(closing(run, at(1, 91)))
    await store().append(opening(run, 1_000_000 + at(1, 10)))
    const again = { item_of: { block: 5, below: 1_001_090, most_failed } }
    expect(await store().append(itemStep(run, 0, 1_001_010, again))).toMatchObject({ ok: true })
    await store().append(ending(run))
    expect(await store().append(itemStep(run, 1, 1_001_010, again))).toEqual({ ok: false, because: 'terminal' })
  })

  test('refuses an item step that does not name its block, and items opened or dropped from another lane', async () => {
    const run = await begun(store)
    const bad = { name: 'Bug', code: 'append_item_lane' }
    const item_of = { block: 5, below: at(1, 90) }
    const wrong = [
      step(run, '5.1', 10),
      step(run, '6.1', 10, { item_of }),
      step(run, '5', 10, { item_of }),
      step(run, '5.1', 10, { item_of, drop_items: { block: 5 } }),
      step(run, '6', 10, { open_items: { block: 5 } }),
      step(run, '5', 10, { open_items: { block: 5 }, drop_items: { block: 5 } }),
    ]
    for (const append of wrong) await expect(store().append(append)).rejects.toMatchObject(bad)
    expect((await store().head(run))?.seq).toBe(1)
  })

  test('a thousand items leave HEAD in one append', { tags, timeout: 60_000 }, async () => {
    const run = await begun(store)
    await store().append(opening(run))
    const many = atMost(1_000)
    const items = Array.from({ length: many }, (_, i) => i)
    // As many at once as HEAD's tail takes: more would only send each other away.
    for (let i = 0; i < many; i += 8) {
      await Promise.all(items.slice(i, i + 8).map((item) => store().append(itemStep(run, item, at(1, 90)))))
    }
    expect(Object.keys((await store().head(run))?.lanes ?? {})).toHaveLength(many + 2)
    expect(await store().append(closing(run))).toEqual({ ok: true, seq: many + 3 })
    expect((await store().head(run))?.lanes).toEqual({ run: 10, '5': at(1, 90) })
  })
}

function itemProjectionTests(store: () => RunStore): void {
  const one = (item: number): BlockProjection => ({
    block: 5,
    item,
    ordinal: at(1, 10),
    state: 'running',
    attempt: 1,
    holder: 'boot/1',
    lease_until: time(30_000),
  })

  test('are read by block in item order, and are not the block', async () => {
    const run = await begun(store)
    const own: BlockProjection = {
      block: 5,
      ordinal: at(1, 10),
      state: 'running',
      attempt: 1,
      items: { count: 12, inputs_ref: 'objstore://main/a', since: time(1) },
    }
    await store().putProjection(run, own)
    for (const item of [11, 2, 0]) await store().putProjection(run, one(item))
    await store().putProjection(run, { ...one(1), block: 50 })
    await store().putProjection(run, { ...one(2), ordinal: at(1, 9), attempt: 9 })
    expect(await store().itemProjections(run, 5)).toEqual([one(0), one(2), one(11)])
    expect(await store().projections(run)).toEqual([own])
    expect(await store().projections(run, [5])).toEqual([own])
    expect(await store().itemProjections(run, 5, [11, 3, 2, 11])).toEqual([one(2), one(11)])
    expect(await store().itemProjections(run, 5, [])).toEqual([])
    expect(await store().itemProjections(run, 7)).toEqual([])
    expect(await store().itemProjections({ tenant: 'other', run_id: run.run_id }, 5)).toEqual([])
  })

  test('ride on appends and stay after the lanes of the items are gone', async () => {
    const run = await begun(store)
    await store().append(opening(run))
    await store().append(itemStep(run, 2, at(1, 10), { projection: one(2) }))
    await store().append(closing(run))
    expect(await store().itemProjections(run, 5)).toEqual([one(2)])
    await store().append(opening(run, 1_001_010))
    expect(await store().itemProjections(run, 5)).toEqual([one(2)])
  })

  test('each has a lease of its own', async () => {
    const run = await begun(store)
    await store().putProjection(run, one(1))
    await store().putProjection(run, one(2))
    expect(await store().renewLease(run, { block: 5 }, 'boot/1', time(40_000))).toBe(false)
    expect(await store().renewLease(run, { block: 5, item: 1 }, 'boot/2', time(40_000))).toBe(false)
    expect(await store().renewLease(run, { block: 5, item: 1 }, 'boot/1', time(40_000))).toBe(true)
    expect(await store().itemProjections(run, 5)).toEqual([{ ...one(1), lease_until: time(40_000) }, one(2)])
  })
}

function linkTests(store: () => RunStore): void {
  test('a module moves with its lane, whole; a refused append moves none', async () => {
    const run = await begun(store)
    const bounce = (n: number): HeadModule => ({ epoch: n, rules: { '3.0': { count: n, epoch: n } } })
    const raise = (n: number) => step(run, 'm0', n, { module: { key: '0', set: bounce(n) }, events: [ready('b')] })
    await store().append(raise(1))
    await store().append(raise(2))
    expect(await store().append({ ...raise(2), module: { key: '0', set: bounce(9) } })).toEqual(already)
    await store().append(step(run, 'm12', 1, { module: { key: '12', set: bounce(1) } }))
    expect((await store().head(run, []))?.modules).toEqual({ '0': bounce(2), '12': bounce(1) })
  })

  test('children are noted by lane; the last of a lane stays', async () => {
    const run = await begun(store)
    await store().append(step(run, '3', at(1, 10), { child: { lane: '3', run_id: 'run_a' } }))
    await store().append(step(run, '3', at(2, 10), { child: { lane: '3', run_id: 'run_b' } }))
    await store().append(step(run, '4', at(1, 10), { child: { lane: '4', run_id: 'run_c' } }))
    expect((await store().head(run, []))?.children).toEqual({ '3': 'run_b', '4': 'run_c' })
  })

  test('every token of a parent is kept, also one of a create that finds the run; nothing else shows them', async () => {
    const parent = { run_id: 'run_parent', block_id: 'sub', epoch: 0, attempt: 1 }
    const child = newRun(1, { parent, continues: 'run_before' })
    const key = keyOf(child.meta)
    expect(await store().parentTokens(key)).toEqual([])
    expect(await store().create({ ...child, parent_token: 'token-1' })).toEqual({ created: true, meta: child.meta })
    expect(await store().create({ ...child, parent_token: 'token-2' })).toEqual({ created: false, meta: child.meta })
    await store().create({ ...child, parent_token: 'token-1' })
    await store().create(child)
    expect(await store().parentTokens(key)).toEqual(['token-1', 'token-2'])
    expect(await store().parentTokens({ tenant: 'other', run_id: key.run_id })).toEqual([])
    const read = [
      await store().head(key),
      await store().meta(key),
      await store().context(key),
      await store().events(key, 0, 10),
      await store().list('main', { limit: 5 }),
    ]
    expect(JSON.stringify(read)).not.toContain('token-')
  })

  test('what a parent and its child owe each other waits in the outbox', async () => {
    const run = await begun(store)
    const outbox = [
      { id: 'a', at: time(1), kind: 'answer_parent' },
      { id: 'b', at: time(2), kind: 'stop_execution', cause: 'stopped' },
    ] as const
    await store().append(step(run, '3', 10, { outbox }))
    await store().settleOutbox(run, ['start', 'b'])
    expect((await store().head(run))?.outbox).toEqual([outbox[0]])
  })
}

function cacheTests(store: () => RunStore): void {
  test('the newest result of a definition and its inputs is kept, whichever was written last', async () => {
    expect(await store().cached('main', 'block', 'inputs')).toBeUndefined()
    await store().putCached('main', 'block', 'inputs', cachedResult(2))
    await store().putCached('main', 'block', 'inputs', cachedResult(1))
    expect(await store().cached('main', 'block', 'inputs')).toEqual(cachedResult(2))
    await store().putCached('main', 'block', 'inputs', cachedResult(3))
    expect(await store().cached('main', 'block', 'inputs')).toEqual(cachedResult(3))
  })

  test('another definition, other inputs and another tenant have results of their own', async () => {
    await store().putCached('main', 'block', 'inputs', cachedResult(1))
    for (const [tenant, block, inputs] of [
      ['main', 'block2', 'inputs'],
      ['main', 'block', 'inputs2'],
      ['other', 'block', 'inputs'],
    ] as const) {
      expect(await store().cached(tenant, block, inputs)).toBeUndefined()
    }
  })
}
