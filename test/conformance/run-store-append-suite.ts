import { describe, expect, test } from 'vitest'
import type { HeadApproval } from '../../shared/runs/head.ts'
import type { Append } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import { atMost } from '../how-much.ts'
import {
  at,
  begun,
  ending,
  keyOf,
  newRun,
  pending,
  ready,
  type Store,
  seqs,
  started,
  step,
  time,
  upTo,
} from './run-store-fixture.ts'

/** How a run begins, and the one write that moves it: what it does, what it refuses, and many of them at once. */
export function appendSuite(store: Store, heavy: string[]): void {
  describe('create', () => createTests(store))
  describe('append', () => appendTests(store))
  describe('refusals', () => refusalTests(store))
  describe('many writers at once', () => concurrencyTests(store, heavy))
}

const NO_SPENDING = {
  committed_tokens: 0,
  committed_usd_micros: 0,
  spent_tokens: 0,
  spent_usd_micros: 0,
  unpriced_tokens: 0,
}

const AT_ONCE = atMost(200, 50)

function createTests(store: Store): void {
  test('keeps of a research run its kind and its question, in META and in lists', async () => {
    const of = { kind: 'research', intent_ref: `objstore://main/${'e'.repeat(64)}`, blocks: 0 } as const
    const { meta } = newRun(1, of)
    expect(await store().create(newRun(1, of))).toEqual({ created: true, meta })
    expect(await store().meta(keyOf(meta))).toEqual(meta)
    expect((await store().list('main', { limit: 1 })).runs[0]).toMatchObject(of)
    await store().create(newRun(2))
    expect(await store().meta(keyOf(newRun(2).meta))).not.toHaveProperty('kind')
  })

  test('writes HEAD, META, context 0 and run:started as seq 1', async () => {
    const run = newRun(1)
    const key = keyOf(run.meta)
    expect(await store().create(run)).toEqual({ created: true, meta: run.meta })
    expect(await store().meta(key)).toEqual(run.meta)
    expect(await store().context(key)).toEqual({ version: 0, values: run.context })
    expect(await store().head(key)).toEqual({
      state: 'running',
      seq: 1,
      lanes: { run: at(0, 10) },
      running: [],
      approvals: {},
      modules: {},
      children: {},
      deadline_at: run.deadline_at,
      check_at: run.check_at,
      outbox: run.outbox,
      budget: NO_SPENDING,
      stored_bytes: 0,
    })
    const id = `run/${at(0, 10)}/0`
    const event = { seq: 1, id, run_id: key.run_id, at: run.meta.created_at, ...run.event }
    expect(await store().events(key, 0, 10)).toEqual([event])
  })

  test('a second create answers the first META and changes nothing', async () => {
    const first = newRun(1)
    const second = { ...newRun(1, { body_hash: 'other' }), context: { goal: 'another' }, outbox: [] }
    await store().create(first)
    const before = await store().head(keyOf(first.meta))
    expect(await store().create(second)).toEqual({ created: false, meta: first.meta })
    expect(await store().head(keyOf(first.meta))).toEqual(before)
    expect((await store().context(keyOf(first.meta)))?.values).toEqual(first.context)
    expect(await seqs(store, keyOf(first.meta))).toEqual([1])
  })

  test('of ten creates at once one creates', async () => {
    const answers = await Promise.all(upTo(10).map(() => store().create(newRun(1))))
    expect(answers.filter(({ created }) => created)).toHaveLength(1)
    expect(await seqs(store, keyOf(newRun(1).meta))).toEqual([1])
  })

  test('an unknown run has no HEAD, META, context, events, items or STOP', async () => {
    const key = { tenant: 'main', run_id: 'run_unknown' }
    expect(await store().head(key)).toBeUndefined()
    expect(await store().meta(key)).toBeUndefined()
    expect(await store().context(key)).toBeUndefined()
    expect(await store().events(key, 0, 10)).toEqual([])
    expect(await store().projections(key)).toEqual([])
    expect(await store().approvals(key)).toEqual([])
    expect(await store().artifacts(key)).toEqual([])
    expect(await store().stopped(key)).toBe(false)
  })
}

function appendTests(store: Store): void {
  test('gives seqs 1..n without gap, ids of lane, ordinal and position, and the time of the append', async () => {
    const run = await begun(store)
    const events = [ready('b0'), started('b0', 1)]
    expect(await store().append(step(run, '0', at(1, 10), { events, at: time(5) }))).toEqual({ ok: true, seq: 3 })
    expect(await store().append(step(run, '1', at(1, 10), { at: time(4) }))).toEqual({ ok: true, seq: 4 })
    const log = await store().events(run, 1, 10)
    expect(log.map(({ seq, id, at: when }) => [seq, id, when])).toEqual([
      [2, '0/1010/0', time(5)],
      [3, '0/1010/1', time(5)],
      [4, '1/1010/0', time(4)],
    ])
    expect(log[1]).toEqual({ seq: 3, id: '0/1010/1', run_id: run.run_id, at: time(5), ...started('b0', 1) })
    expect((await store().head(run))?.seq).toBe(4)
  })

  test('moves the lane, the running set, the approval, the state, the times and the outbox in one step', async () => {
    const run = await begun(store)
    const outbox = [{ id: 'stop', at: time(9), kind: 'stop_execution', cause: 'stopped' }] as const
    await store().append(step(run, '0', at(1, 10), { start: { block: 7, limit: 1 } }))
    const all = { approval: { id: 'apr_1', was: null, set: pending(2) }, outbox, end: { block: 7 } } as const
    const done = await store().append(ending(run, { ...all, deadline_at: time(7), check_at: time(8) }))
    expect(done).toEqual({ ok: true, seq: 3 })
    expect(await store().head(run)).toEqual({
      state: 'cancelled',
      seq: 3,
      lanes: { run: at(0, 93), '0': at(1, 10) },
      running: [],
      approvals: { apr_1: pending(2) },
      modules: {},
      children: {},
      deadline_at: time(7),
      check_at: time(8),
      outbox: [...newRun(1).outbox, ...outbox],
      budget: NO_SPENDING,
      stored_bytes: 0,
      ended: { at: time(1), code: 'stopped', reason: 'a person stopped it' },
    })
  })

  test('takes 24 events and 8 KiB, and refuses more with Bug append_too_large, writing nothing', async () => {
    const run = await begun(store)
    const many = (n: number) => upTo(n).map(() => ready('b0'))
    const big = (bytes: number) => {
      const rest = bytes - JSON.stringify(ready('')).length
      return [ready('ü'.repeat(Math.floor(rest / 2)) + 'x'.repeat(rest % 2))]
    }
    const refused = { name: 'Bug', code: 'append_too_large' }
    await expect(store().append(step(run, '0', 10, { events: many(25) }))).rejects.toMatchObject(refused)
    await expect(store().append(step(run, '0', 10, { events: big(8_193) }))).rejects.toMatchObject(refused)
    await expect(store().append(step(run, '0', 10, { events: [] }))).rejects.toMatchObject({ code: 'append_empty' })
    expect((await store().head(run))?.lanes).toEqual({ run: at(0, 10) })
    expect(await store().append(step(run, '0', 10, { events: many(24) }))).toEqual({ ok: true, seq: 25 })
    expect(await store().append(step(run, '1', 10, { events: big(8_192) }))).toEqual({ ok: true, seq: 26 })
  })

  test('refuses a guard that lets the lane stay or go back, and a start together with an end', async () => {
    const run = await begun(store)
    const backwards = { name: 'Bug', code: 'append_backwards' }
    for (const guard of [{ is: 10 }, { is: 11 }, { below: 11 }]) {
      await expect(store().append(step(run, '0', 10, { guard }))).rejects.toMatchObject(backwards)
    }
    const both = { start: { block: 0, limit: 0 }, end: { block: 0 } }
    await expect(store().append(step(run, '0', 10, both))).rejects.toMatchObject({ code: 'append_start_and_end' })
    expect(await seqs(store, run)).toEqual([1])
  })

  test('keeps what events carry: every JSON value, text beyond ASCII, absent members absent', async () => {
    const run = await begun(store)
    const facts = { empty: {}, list: [null, true, 1.5, -0.25e-7, 'a\u0000\u2028"\\ü🦔'], big: 2 ** 53 - 1 }
    const data = { gate: 'g', type: 't', phase: 'post', status: 'passed', reason: 'r', input_hash: 'h', facts } as const
    await store().append(
      step(run, '0', 10, { events: [{ type: 'block:gate', block_id: 'b', data: { ...data, duration_ms: 0.1 } }] }),
    )
    const [event] = await store().events(run, 1, 1)
    expect(event?.data).toStrictEqual({ ...data, duration_ms: 0.1 })
    expect(event).not.toHaveProperty('attempt')
  })
}

function refusalTests(store: Store): void {
  const already = { ok: false, because: 'already' }

  test('`below` refuses an equal or later ordinal and takes an absent lane', async () => {
    const run = await begun(store)
    expect(await store().append(step(run, '0', 1_010))).toMatchObject({ ok: true })
    expect(await store().append(step(run, '0', 1_010))).toEqual(already)
    expect(await store().append(step(run, '0', 1_009))).toEqual(already)
    expect(await store().append(step(run, '0', 1_090, { guard: { below: 1_010 } }))).toEqual(already)
    expect(await store().append(step(run, '0', 1_090, { guard: { below: 1_011 } }))).toMatchObject({ ok: true })
    expect(await seqs(store, run)).toEqual([1, 2, 3])
  })

  test('`is` takes exactly that ordinal; null means the lane is absent', async () => {
    const run = await begun(store)
    expect(await store().append(step(run, '0', 10, { guard: { is: 5 } }))).toEqual(already)
    expect(await store().append(step(run, '0', 10, { guard: { is: null } }))).toMatchObject({ ok: true })
    expect(await store().append(step(run, '0', 20, { guard: { is: null } }))).toEqual(already)
    expect(await store().append(step(run, '0', 20, { guard: { is: 9 } }))).toEqual(already)
    expect(await store().append(step(run, '0', 20, { guard: { is: 10 } }))).toMatchObject({ ok: true })
  })

  test('a repeat of the same append is `already` and adds nothing, even with its approval and outbox', async () => {
    const run = await begun(store)
    const once = step(run, 'a0', 10, { approval: { id: 'apr_1', was: null, set: pending(0) } })
    expect(await store().append(once)).toMatchObject({ ok: true })
    expect(await store().append(once)).toEqual(already)
    expect(await seqs(store, run)).toEqual([1, 2])
  })

  test('an ended run refuses every append, also the one that ended it', async () => {
    const run = await begun(store)
    await store().append(step(run, '0', 10))
    expect(await store().append(ending(run))).toMatchObject({ ok: true })
    const before = await store().head(run)
    for (const append of [ending(run), step(run, '0', 10), step(run, '0', 20), step(run, '9', 10)]) {
      expect(await store().append(append)).toEqual({ ok: false, because: 'terminal' })
    }
    expect(await store().head(run)).toEqual(before)
    expect((await store().events(run, 0, 10)).at(-1)?.type).toBe('run:cancelled')
  })

  test('`running` takes blocks up to the limit of the claim; an ended attempt makes room', async () => {
    const run = await begun(store)
    const claim = (block: number, limit: number) => step(run, String(block), at(1, 10), { start: { block, limit } })
    expect(await store().append(claim(0, 2))).toMatchObject({ ok: true })
    expect(await store().append(claim(11, 2))).toMatchObject({ ok: true })
    expect(await store().append(claim(1, 2))).toEqual({ ok: false, because: 'full' })
    expect(await store().append(claim(2, 0))).toMatchObject({ ok: true })
    expect((await store().head(run, []))?.running).toEqual(['0', '2', '11'])
    await store().append(step(run, '0', at(1, 90), { end: { block: 0 } }))
    expect(await store().append(claim(1, 2))).toEqual({ ok: false, because: 'full' })
    await store().append(step(run, '11', at(1, 90), { end: { block: 11 } }))
    expect(await store().append(claim(1, 2))).toMatchObject({ ok: true })
    expect((await store().head(run, []))?.running).toEqual(['1', '2'])
  })

  test('`running` is a set: starting twice counts once, ending what does not run changes nothing', async () => {
    const run = await begun(store)
    await store().append(step(run, '1', 1_010, { start: { block: 1, limit: 0 } }))
    await store().append(step(run, '1', 2_010, { start: { block: 1, limit: 0 } }))
    await store().append(step(run, '2', 1_090, { end: { block: 2 } }))
    expect((await store().head(run))?.running).toEqual(['1'])
    expect(await store().append(step(run, '3', 1_010, { start: { block: 3, limit: 2 } }))).toMatchObject({ ok: true })
    const full = { ok: false, because: 'full' }
    expect(await store().append(step(run, '4', 1_010, { start: { block: 4, limit: 2 } }))).toEqual(full)
    await store().append(step(run, '1', 2_090, { end: { block: 1 } }))
    expect((await store().head(run))?.running).toEqual(['3'])
  })

  test('an approval moves only from the status the writer saw', async () => {
    const run = await begun(store)
    const decided: HeadApproval = { ...pending(2), status: 'approved', decided_by: 'user:ana', via: 'cli' }
    const move = (lane: string, was: 'pending' | null, set: HeadApproval) =>
      store().append(step(run, lane, 10, { approval: { id: 'apr_1', was, set } }))
    expect(await move('x1', 'pending', decided)).toEqual({ ok: false, because: 'approval' })
    expect(await move('x2', null, pending(2))).toMatchObject({ ok: true })
    expect(await move('x3', null, pending(2))).toEqual({ ok: false, because: 'approval' })
    expect(await move('x4', 'pending', decided)).toMatchObject({ ok: true })
    expect(await move('x5', 'pending', decided)).toEqual({ ok: false, because: 'approval' })
    expect((await store().head(run))?.approvals).toEqual({ apr_1: decided })
    expect((await store().head(run))?.lanes).toEqual({ run: 10, x2: 10, x4: 10 })
  })

  test('an approval the writer read moves only while it is exactly that, and of two writers one moves it', async () => {
    const run = await begun(store)
    const asked = { ...pending(2), next_at: time(5) }
    await store().append(step(run, 'a2', 10, { approval: { id: 'apr_1', was: null, set: asked } }))
    const seen = (await store().head(run))?.approvals.apr_1 ?? asked
    const vote = { by: 'user:ana "\u0001" é', via: 'cli', at: time(2) }
    const voted: HeadApproval = { ...seen, votes: [vote] }
    const move = (lane: string, was: HeadApproval, set: HeadApproval) =>
      store().append(step(run, lane, 61, { approval: { id: 'apr_1', was, set } }))
    const both = await Promise.all([move('a2', seen, voted), move('n2', seen, { ...seen, told: 1 })])
    expect(both.filter(({ ok }) => ok)).toHaveLength(1)
    expect(both).toContainEqual({ ok: false, because: 'approval' })
    expect(await move('x1', seen, voted)).toEqual({ ok: false, because: 'approval' })
    const now = (await store().head(run))?.approvals.apr_1 ?? seen
    expect(await move('x2', now, { ...now, votes: [vote], told: 2 })).toMatchObject({ ok: true })
    const last = (await store().head(run))?.approvals.apr_1 ?? seen
    expect(last).toEqual({ ...asked, votes: [vote], told: 2 })
    expect(await move('x3', last, { ...last, status: 'approved' })).toMatchObject({ ok: true })
  })

  test('several approvals move together or not at all, as many as calls of a turn may ask', async () => {
    const run = await begun(store)
    const ids = Array.from({ length: 64 }, (_, n) => `apr_01arz3ndektsv4rrffq69g5fav_zz_12_i199${n + 10}a1`)
    for (const [n, id] of ids.entries()) {
      await store().append(step(run, `q${n}`, 10, { approval: { id, was: null, set: pending(2) } }))
    }
    const cancelled: HeadApproval = { ...pending(2), status: 'cancelled', decided_at: time(3) }
    const further_approvals = ids.map((id) => ({ id, was: pending(2), set: cancelled }))
    const outbox = ids.flatMap((id) => [
      { id: `token-${id}`, at: time(3), kind: 'send_token', approval_id: id } as const,
      { id: `notify-${id}`, at: time(3), kind: 'notify', about: 'cancelled', approval_id: id } as const,
    ])
    const stop = { further_approvals, outbox, end: { block: 3, items: ids.map((_, n) => n) } } as const
    const [first = ''] = ids
    const voted = { ...pending(2), votes: [{ by: 'user:ana', via: 'cli', at: time(2) }] }
    await store().append(step(run, 'q0', 20, { approval: { id: first, was: 'pending', set: voted } }))
    expect(await store().append(step(run, '3', 10, stop))).toEqual({ ok: false, because: 'approval' })
    expect(Object.values((await store().head(run))?.approvals ?? {})).not.toContainEqual(cancelled)
    await store().append(step(run, 'q0', 30, { approval: { id: first, was: voted, set: pending(2) } }))
    expect(await store().append(step(run, '3', 10, stop))).toMatchObject({ ok: true })
    const now = Object.values((await store().head(run))?.approvals ?? {})
    expect(now).toEqual(ids.map(() => cancelled))
  })

  test('an end takes the items it names out of what runs, and no others', async () => {
    const run = await begun(store)
    await store().append(step(run, '3', 10, { start: { block: 3, limit: 0 } }))
    for (const n of [0, 100, 101, 102]) {
      await store().append(step(run, `x${n}`, 10, { start: { block: 3, item: n, limit: 0 } }))
    }
    await store().append(step(run, '3', 90, { end: { block: 3, items: [100, 102, 104] } }))
    expect((await store().head(run))?.running).toEqual(['3.0', '3.101'])
  })

  test('when several refusals hold: unknown run, terminal, already, approval, full', async () => {
    const run = await begun(store)
    await store().append(step(run, '0', 1_010, { start: { block: 0, limit: 0 } }))
    const bad = { approval: { id: 'apr_1', was: 'pending', set: pending(0) }, start: { block: 1, limit: 1 } } as const
    const because = async (append: Append) => {
      const done = await store().append(append)
      return done.ok ? 'ok' : done.because
    }
    expect(await because(step({ ...run, run_id: 'run_unknown' }, '0', 1_010, bad))).toBe('unknown_run')
    expect(await because(step(run, '0', 1_010, bad))).toBe('already')
    expect(await because(step(run, '1', 1_010, bad))).toBe('approval')
    expect(await because(step(run, '1', 1_010, { start: bad.start }))).toBe('full')
    await store().append(ending(run))
    expect(await because(step(run, '0', 1_010, bad))).toBe('terminal')
  })
}

function concurrencyTests(store: Store, tags: string[]): void {
  test(`${AT_ONCE} appends at once, each on its lane, all take their place`, { tags }, async () => {
    const run = await begun(store)
    const done = await Promise.all(upTo(AT_ONCE).map((n) => store().append(step(run, String(n), 1_010))))
    expect(done.map((answer) => (answer.ok ? answer.seq : 0)).sort((a, b) => a - b)).toEqual(
      upTo(AT_ONCE).map((n) => n + 1),
    )
    expect(await seqs(store, run)).toEqual(upTo(AT_ONCE + 1))
    expect(Object.keys((await store().head(run))?.lanes ?? {})).toHaveLength(AT_ONCE + 1)
  })

  test(`of ${AT_ONCE} appends at once on one lane one is taken, the others are "already"`, { tags }, async () => {
    const run = await begun(store)
    const done = await Promise.all(upTo(AT_ONCE).map(() => store().append(step(run, '0', 1_010))))
    expect(done.filter(({ ok }) => ok)).toHaveLength(1)
    expect(done.filter((answer) => !answer.ok && answer.because === 'already')).toHaveLength(AT_ONCE - 1)
    expect(await seqs(store, run)).toEqual([1, 2])
  })

  test('of 50 claims at once with limit 7 exactly 7 run', async () => {
    const run = await begun(store)
    const claims = upTo(50).map((block) => step(run, String(block), 1_010, { start: { block, limit: 7 } }))
    const done = await Promise.all(claims.map((claim) => store().append(claim)))
    expect(done.filter(({ ok }) => ok)).toHaveLength(7)
    expect((await store().head(run))?.running).toHaveLength(7)
  })

  test('a store that takes appends in order takes an end that stands on a claim nobody has answered yet', async () => {
    const run = await begun(store)
    if (store().in_order !== true) return
    const claim = (lane: string, limit: number) => step(run, lane, at(1, 10), { start: { block: Number(lane), limit } })
    const both = (lane: string, limit: number) => [
      store().append({ ...claim(lane, limit), guard: { is: null } }),
      store().append({ ...step(run, lane, at(1, 90), { end: { block: Number(lane) } }), guard: { is: at(1, 10) } }),
    ]
    const taken = await Promise.all([...both('1', 1), ...both('2', 1)])
    expect(taken).toEqual([2, 3, 4, 5].map((seq) => ({ ok: true, seq })))
    // Where the claim is refused so is the end.
    await store().append(claim('3', 1))
    const refused = await Promise.all(both('4', 1))
    expect(refused).toEqual([
      { ok: false, because: 'full' },
      { ok: false, because: 'already' },
    ])
  })

  test('one bad append among good ones spoils none of them', async () => {
    const run = await begun(store)
    const made = { tenant: 'main', run_id: 'run_unknown' }
    const projection: BlockProjection = { block: 0, ordinal: 1, state: 'running', attempt: 1 }
    const [good, bad, last] = await Promise.allSettled([
      store().append(step(run, '0', 10)),
      store().append(step(run, '1', 10, { events: [] })),
      store().append(step(run, '2', 10)),
      store().putProjection(made, projection),
    ])
    expect(good).toMatchObject({ status: 'fulfilled', value: { ok: true } })
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'append_empty' } })
    expect(last).toMatchObject({ status: 'fulfilled', value: { ok: true } })
    expect(await seqs(store, run)).toEqual([1, 2, 3])
  })

  test('a decision and a stop at once: one is written, and nothing follows the end of the run', async () => {
    const run = await begun(store)
    await store().append(step(run, 'a0', 10, { approval: { id: 'apr_1', was: null, set: pending(0) } }))
    const set: HeadApproval = { ...pending(0), status: 'approved' }
    const decide = step(run, 'a0', 90, { approval: { id: 'apr_1', was: 'pending', set } })
    const done = await Promise.all([store().append(ending(run)), store().append(decide), store().append(ending(run))])
    expect(done.filter(({ ok }) => ok).length).toBeGreaterThan(0)
    expect((await store().events(run, 0, 10)).at(-1)?.type).toBe('run:cancelled')
    expect((await store().head(run))?.state).toBe('cancelled')
  })
}
