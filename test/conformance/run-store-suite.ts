import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HeadApproval } from '../../shared/runs/head.ts'
import { readOrdinal } from '../../shared/runs/lane.ts'
import type { Append, RunKey, RunStore } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import { atMost } from '../how-much.ts'
import { type DamageItem, damageTests } from './run-store-damage.ts'
import { at, ending, keyOf, newRun, pending, question, ready, started, step, time } from './run-store-fixture.ts'
import { ask, inboxTests } from './run-store-inbox-suite.ts'
import { languageTests } from './run-store-language-suite.ts'
import { ledgerTests } from './run-store-ledger-suite.ts'
import { modelTests } from './run-store-model.ts'
import { tenantItemTests } from './run-store-tenant-suite.ts'

export interface OpenedRunStore {
  readonly store: RunStore
  /** Ends this store and opens another over the same data, as a new process would. */
  reopen(): Promise<RunStore>
  readonly damage: DamageItem
  close(): Promise<void>
}

/**
 * What every run store promises (shared/runs/run-store.ts). A new place is admitted by one call of this; what is
 * not asked over a wire every day has the tags `heavy` there.
 */
export function runStoreSuite(name: string, open: () => Promise<OpenedRunStore>, heavy: string[] = []): void {
  describe(`run store: ${name}`, () => {
    let opened: OpenedRunStore
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())
    const store = () => opened.store

    describe('create', () => createTests(store))
    describe('append', () => appendTests(store))
    describe('refusals', () => refusalTests(store))
    describe('many writers at once', () => concurrencyTests(store, heavy))
    describe('HEAD and outbox', () => headTests(store))
    describe('events', () => eventTests(store, heavy))
    describe('projections and leases', { tags: heavy }, () => projectionTests(store))
    describe('approvals', { tags: heavy }, () => approvalTests(store))
    describe('joins', { tags: heavy }, () => joinTests(store))
    describe('lists', () => listTests(store))
    describe('context and artifacts', { tags: heavy }, () => contextTests(store))
    inboxTests(store, heavy)
    describe('damaged items', { tags: heavy }, () =>
      damageTests(() => ({
        ...opened,
        async ask(n) {
          const run = await begun(store, n)
          return { run, id: await ask(store, run, 0) }
        },
      })),
    )
    languageTests(store, heavy)
    ledgerTests(store, heavy)
    tenantItemTests(store, heavy)
    describe('tenants', () => tenantTests(store))
    describe('another process', () => reopenTests(() => opened))
    describe('model', { tags: heavy }, () => modelTests(open))
  })
}

type Store = () => RunStore

async function begun(store: Store, n = 1): Promise<RunKey> {
  const run = newRun(n)
  await store().create(run)
  return keyOf(run.meta)
}

async function seqs(store: Store, run: RunKey): Promise<readonly number[]> {
  return (await store().events(run, 0, 10_000)).map(({ seq }) => seq)
}

const NO_SPENDING = {
  committed_tokens: 0,
  committed_usd_micros: 0,
  spent_tokens: 0,
  spent_usd_micros: 0,
  unpriced_tokens: 0,
}

const AT_ONCE = atMost(200, 50)
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

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

function headTests(store: Store): void {
  test('answers only the lanes that were named, and always the rest', async () => {
    const run = await begun(store)
    await store().append(step(run, '0', 1_010, { start: { block: 0, limit: 0 } }))
    await store().append(step(run, '1', 1_090))
    expect((await store().head(run, []))?.lanes).toEqual({})
    expect(await store().head(run, ['1', '77'])).toMatchObject({ lanes: { '1': 1_090 }, running: ['0'], seq: 3 })
    expect((await store().head(run))?.lanes).toEqual({ run: 10, '0': 1_010, '1': 1_090 })
    expect(readOrdinal((await store().head(run))?.lanes['1'] ?? 0).outcome).toBe('completed')
  })

  test('settling removes just the entries named, and may be repeated', async () => {
    const run = await begun(store)
    const outbox = [
      { id: 'token-apr_1', at: time(3), kind: 'send_token', approval_id: 'apr_1' },
      { id: 'stop', at: time(2), kind: 'stop_execution', cause: 'stopped' },
    ] as const
    await store().append(step(run, '0', 10, { outbox }))
    expect((await store().head(run))?.outbox.map(({ id }) => id)).toEqual(['start', 'stop', 'token-apr_1'])
    await store().settleOutbox(run, ['stop', 'start', 'nothing'])
    await store().settleOutbox(run, ['stop'])
    await store().settleOutbox(run, [])
    const head = await store().head(run)
    expect(head?.outbox).toEqual([outbox[0]])
    expect(head?.check_at).toBe(newRun(1).check_at)
  })

  test('an entry of an id that is there takes its place', async () => {
    const run = await begun(store)
    const entry = { id: 'start', at: time(2), kind: 'stop_execution', cause: 'stopped' } as const
    await store().append(step(run, '0', 10, { outbox: [entry] }))
    expect((await store().head(run))?.outbox).toEqual([entry])
  })

  test('check_at moves later only while nothing was appended since the look', async () => {
    // A sweep reads HEAD; the run ends, owes something, and keeps the earlier check_at; then the sweep moves what it saw.
    const run = await begun(store)
    const { check_at } = newRun(1)
    const seen = await store().head(run, [])
    const entry = { id: 'answer', at: time(2), kind: 'stop_execution', cause: 'stopped' } as const
    const owed = step(run, '0', 10, { outbox: [entry], check_at: time(95_000) })
    expect(await store().append(owed)).toMatchObject({ ok: true })
    for (const to of [time(90_000), undefined]) {
      await store().moveCheck(run, check_at, to, seen?.seq)
      expect((await store().head(run, []))?.check_at).toBe(check_at)
    }
    const now = await store().head(run, [])
    await store().moveCheck(run, check_at, time(90_000), now?.seq)
    expect((await store().head(run, []))?.check_at).toBe(time(90_000))
    await store().moveCheck(run, time(90_000), undefined, now?.seq)
    expect(await store().head(run, [])).not.toHaveProperty('check_at')
  })

  test('check_at moves only from what was seen; undefined takes the run out of the due list', async () => {
    const run = await begun(store)
    const { check_at } = newRun(1)
    await store().moveCheck(run, time(1), time(2))
    expect((await store().head(run))?.check_at).toBe(check_at)
    await store().moveCheck(run, check_at, time(90_000))
    expect((await store().head(run))?.check_at).toBe(time(90_000))
    expect(await store().due(time(90_000), 10)).toEqual([run])
    await store().append(step(run, '1', 10, { check_at: time(90_001) }))
    expect((await store().head(run))?.check_at).toBe(time(90_000))
    await store().moveCheck(run, time(90_000), undefined)
    expect(await store().head(run)).not.toHaveProperty('check_at')
    expect(await store().due(time(10_000_000), 10)).toEqual([])
    await store().append(step(run, '0', 10, { check_at: time(5) }))
    expect(await store().due(time(5), 10)).toEqual([run])
  })

  test('due answers runs whose time has come, oldest first, at most so many', async () => {
    for (const n of [1, 2, 3]) await store().create({ ...newRun(n), check_at: time(100 - n) })
    const ids = (runs: readonly RunKey[]) => runs.map(({ run_id }) => Number(run_id.slice(4)))
    expect(ids(await store().due(time(96), 10))).toEqual([])
    expect(ids(await store().due(time(98), 10))).toEqual([3, 2])
    expect(ids(await store().due(time(1_000), 2))).toEqual([3, 2])
  })

  test('the STOP mark is there once put, and may be put again', async () => {
    const run = await begun(store)
    expect(await store().stopped(run)).toBe(false)
    await store().putStop(run)
    await store().putStop(run)
    expect(await store().stopped(run)).toBe(true)
    expect((await store().head(run))?.state).toBe('running')
  })
}

function eventTests(store: Store, tags: string[]): void {
  test('a reader going on from any cursor sees each event once, in order', { tags }, async () => {
    const run = await begun(store)
    await Promise.all(
      upTo(30).map((n) => store().append(step(run, String(n), 10, { events: [ready('a'), ready('b')] }))),
    )
    const all = await store().events(run, 0, 1_000)
    expect(all.map(({ seq }) => seq)).toEqual(upTo(61))
    expect(new Set(all.map(({ id }) => id)).size).toBe(61)
    for (const limit of [1, 7, 61, 100]) {
      const seen = []
      for (let since = 0; ; since = seen.length) {
        const page = await store().events(run, since, limit)
        seen.push(...page)
        if (page.length < limit) break
      }
      expect(seen).toEqual(all)
    }
    expect(await store().events(run, 61, 10)).toEqual([])
    expect(await store().events(run, 999_999_999, 10)).toEqual([])
  })

  test('runs beside each other keep their own seqs', async () => {
    const [a, b] = [await begun(store, 1), await begun(store, 2)]
    await store().append(step(a, '0', 10))
    await store().append(step(b, '0', 10))
    await store().append(step(a, '0', 20))
    expect(await seqs(store, a)).toEqual([1, 2, 3])
    expect(await seqs(store, b)).toEqual([1, 2])
    expect((await store().events(b, 0, 10)).every(({ run_id }) => run_id === b.run_id)).toBe(true)
  })
}

function projectionTests(store: Store): void {
  const running: BlockProjection = {
    block: 3,
    ordinal: at(1, 10),
    state: 'running',
    attempt: 1,
    holder: 'boot/1',
    lease_until: time(30_000),
  }

  test('moves forward only: an equal or smaller ordinal changes nothing', async () => {
    const run = await begun(store)
    const outputs = { text: { ref: `objstore://main/${'a'.repeat(64)}`, sha256: 'a'.repeat(64), bytes: 3 } }
    const completed: BlockProjection = { block: 3, ordinal: at(1, 90), state: 'completed', attempt: 1, outputs }
    await store().putProjection(run, running)
    expect(await store().projections(run)).toEqual([running])
    await store().putProjection(run, { ...running, attempt: 9 })
    expect(await store().projections(run)).toEqual([running])
    await store().putProjection(run, completed)
    await store().putProjection(run, running)
    expect(await store().projections(run)).toEqual([completed])
  })

  test('one that rides on an append is there when it answers, forward only; a refused append writes none', async () => {
    const run = await begun(store)
    const claim = step(run, '3', at(1, 10), { projection: running })
    expect(await store().append(claim)).toMatchObject({ ok: true })
    expect(await store().projections(run)).toEqual([running])
    expect(await store().append({ ...claim, projection: { ...running, ordinal: at(9, 10) } })).toMatchObject({
      ok: false,
    })
    await store().append(step(run, '4', at(1, 10), { projection: { ...running, attempt: 9 } }))
    expect(await store().projections(run)).toEqual([running])
  })

  test('answers all blocks or those named, by block; failure and due time are kept', async () => {
    const run = await begun(store)
    const failure = { code: 'gate_failed', reason: 'too short', feedback: ['at least 200 characters'] }
    const retrying: BlockProjection = {
      block: 10,
      ordinal: at(1, 50),
      state: 'retrying',
      attempt: 1,
      due_at: time(9),
      failure,
    }
    await store().putProjection(run, retrying)
    await store().putProjection(run, running)
    expect(await store().projections(run)).toEqual([running, retrying])
    expect(await store().projections(run, [10, 4, 10])).toEqual([retrying])
    expect(await store().projections(run, [])).toEqual([])
  })

  test('a lease is moved by its holder while the attempt runs, by nobody else', async () => {
    const run = await begun(store)
    expect(await store().renewLease(run, { block: 3 }, 'boot/1', time(40_000))).toBe(false)
    await store().putProjection(run, running)
    expect(await store().renewLease(run, { block: 3 }, 'boot/2', time(40_000))).toBe(false)
    expect(await store().renewLease(run, { block: 3 }, 'boot/1', time(40_000))).toBe(true)
    expect(await store().projections(run, [3])).toEqual([{ ...running, lease_until: time(40_000) }])
    await store().putProjection(run, running)
    expect(await store().projections(run, [3])).toEqual([{ ...running, lease_until: time(40_000) }])
    await store().putProjection(run, { ...running, ordinal: at(1, 50), state: 'retrying' })
    expect(await store().renewLease(run, { block: 3 }, 'boot/1', time(50_000))).toBe(false)
    await store().putProjection(run, { ...running, ordinal: at(2, 10), attempt: 2, holder: 'boot/2' })
    expect(await store().renewLease(run, { block: 3 }, 'boot/1', time(50_000))).toBe(false)
    expect(await store().renewLease(run, { block: 3 }, 'boot/2', time(50_000))).toBe(true)
  })
}

function approvalTests(store: Store): void {
  test('keeps what was shown and every token; HEAD has its own part, without either', async () => {
    const run = await begun(store)
    expect(await store().approval(run, 'apr_1')).toBeUndefined()
    await store().putApproval(run, question('apr_1', 0), 'token-1')
    expect(await store().approval(run, 'apr_1')).toEqual(question('apr_1', 0))
    expect((await store().head(run))?.approvals).toEqual({})
    await store().append(step(run, 'a0', 10, { approval: { id: 'apr_1', was: null, set: pending(0) } }))
    await store().putApproval(run, question('apr_1', 0), 'token-2')
    await store().putApproval(run, { ...question('apr_1', 0), digest: 'of another question' }, 'token-1')
    await store().putApproval(run, question('apr_0', 1), 'token-3')
    expect(await store().approvals(run)).toEqual([question('apr_0', 1), question('apr_1', 0)])
    expect(await store().approvalTokens(run, 'apr_1')).toEqual(['token-1', 'token-2'])
    expect(await store().approvalTokens(run, 'apr_9')).toEqual([])
    expect((await store().head(run))?.approvals).toEqual({ apr_1: pending(0) })
    const read = [await store().head(run), await store().events(run, 0, 10), await store().approvals(run)]
    expect(JSON.stringify(read)).not.toContain('token-')
  })

  test('an approval HEAD knows but nobody described is not an item', async () => {
    const run = await begun(store)
    await store().append(step(run, 'a0', 10, { approval: { id: 'apr_1', was: null, set: pending(0) } }))
    expect(await store().approval(run, 'apr_1')).toBeUndefined()
    expect(await store().approvals(run)).toEqual([])
  })
}

function joinTests(store: Store): void {
  test('wait then signals: the last signal sees the token and the need', async () => {
    const run = await begun(store)
    expect(await store().waitJoin(run, '4', { need: 2, token: 't1' })).toBe('waiting')
    expect(await store().signalJoin(run, '4', 'b')).toEqual({ done: ['b'], need: 2, tokens: ['t1'] })
    expect(await store().signalJoin(run, '4', 'a')).toEqual({ done: ['a', 'b'], need: 2, tokens: ['t1'] })
  })

  test('signals before the wait: the waiter is told done and leaves no token', async () => {
    const run = await begun(store)
    expect(await store().signalJoin(run, '4', 'a')).toEqual({ done: ['a'], tokens: [] })
    expect(await store().signalJoin(run, '4', 'b')).toEqual({ done: ['a', 'b'], tokens: [] })
    expect(await store().waitJoin(run, '4', { need: 2, token: 't1' })).toBe('done')
    expect(await store().signalJoin(run, '4', 'a')).toEqual({ done: ['a', 'b'], tokens: [] })
  })

  test('a source counts once however often it signals', async () => {
    const run = await begun(store)
    for (let i = 0; i < 3; i += 1) expect((await store().signalJoin(run, '4', 'a')).done).toEqual(['a'])
    expect(await store().waitJoin(run, '4', { need: 2, token: 't1' })).toBe('waiting')
  })

  test('every token that waited is kept: a late write of an old one hides no newer one', async () => {
    const run = await begun(store)
    await store().waitJoin(run, '4', { need: 1, token: 't1' })
    expect(await store().waitJoin(run, '4', { need: 1, token: 't2' })).toBe('waiting')
    expect(await store().waitJoin(run, '4', { need: 1, token: 't1' })).toBe('waiting')
    expect((await store().signalJoin(run, '4', 'a')).tokens).toEqual(['t1', 't2'])
    expect(await store().waitJoin(run, '4', { need: 1, token: 't3' })).toBe('done')
    expect((await store().signalJoin(run, '4', 'a')).tokens).toEqual(['t1', 't2'])
  })

  test('joins of one run, and of two, do not mix', async () => {
    const [a, b] = [await begun(store, 1), await begun(store, 2)]
    await store().signalJoin(a, '4', 'x')
    expect((await store().signalJoin(a, '5', 'y')).done).toEqual(['y'])
    expect((await store().signalJoin(b, '4', 'z')).done).toEqual(['z'])
  })

  test('of a waiter and 40 signallers at once somebody always sees that all is done', async () => {
    const run = await begun(store)
    const signals = upTo(40).map((n) => store().signalJoin(run, '4', String(n)))
    const [waited, ...items] = await Promise.all([store().waitJoin(run, '4', { need: 40, token: 't' }), ...signals])
    const seen = items.filter(({ done, need, tokens }) => done.length === need && tokens.length > 0)
    expect(seen.length > 0 || waited === 'done').toBe(true)
  })
}

function listTests(store: Store): void {
  const ids = (runs: readonly RunKey[]) => runs.map(({ run_id }) => Number(run_id.slice(4)))

  async function pages(limit: number, filter = {}): Promise<readonly number[][]> {
    const found: number[][] = []
    let after: string | undefined
    do {
      const page = await store().list('main', { limit, ...filter, ...(after === undefined ? {} : { after }) })
      found.push(ids(page.runs))
      after = page.next
    } while (after !== undefined)
    return found
  }

  test('newest first in pages, with META and HEAD; runs of one moment keep an order', async () => {
    for (const n of [2, 5, 1, 4]) await store().create(newRun(n))
    await store().create(newRun(3, { created_at: time(4_000) }))
    expect(await pages(10)).toEqual([[5, 4, 3, 2, 1]])
    expect(await pages(2)).toEqual([[5, 4], [3, 2], [1]])
    expect(await pages(5)).toEqual([[5, 4, 3, 2, 1]])
    const [first] = (await store().list('main', { limit: 1 })).runs
    expect(first).toEqual({ ...newRun(5).meta, head: await store().head(keyOf(newRun(5).meta)) })
    expect((await store().list('nobody', { limit: 5 })).runs).toEqual([])
  })

  test('filters by state and by DAG', async () => {
    for (const n of upTo(6)) await store().create(newRun(n, n % 2 === 0 ? { dag_name: 'even' } : {}))
    for (const n of [1, 2]) await store().append(ending(keyOf(newRun(n).meta)))
    expect(await pages(2, { state: 'cancelled' })).toEqual([[2, 1]])
    expect(await pages(2, { state: 'running' })).toEqual([
      [6, 5],
      [4, 3],
    ])
    expect(await pages(2, { dag_name: 'even' })).toEqual([[6, 4], [2]])
    expect(await pages(5, { dag_name: 'even', state: 'running' })).toEqual([[6, 4]])
    expect(await pages(5, { dag_name: "e' OR 1=1" })).toEqual([[]])
  })

  test('a run that starts between two pages neither repeats nor hides one', async () => {
    for (const n of [1, 2, 3, 4]) await store().create(newRun(n))
    const first = await store().list('main', { limit: 2 })
    await store().create(newRun(9))
    const second = await store().list('main', { limit: 2, after: first.next ?? '' })
    expect([...ids(first.runs), ...ids(second.runs)]).toEqual([4, 3, 2, 1])
  })

  test('a cursor shows no key and refuses forgery, another tenant and any other text', async () => {
    for (const n of [1, 2, 3]) await store().create(newRun(n))
    const { next = '' } = await store().list('main', { limit: 1 })
    expect((await store().list('main', { limit: 1 })).next).toBe(next)
    expect(Buffer.from(next, 'base64url').toString('latin1')).not.toMatch(/run_|main|2026/)
    const bad = { name: 'InvalidInput', code: 'bad_cursor' }
    const turned = [...next].map((char, i) => next.slice(0, i) + (char === 'A' ? 'B' : 'A') + next.slice(i + 1))
    for (const after of [...turned, '', 'x', next.slice(1), `${next}=`, `${next}A`, ` ${next}`, '{"run":1}']) {
      await expect(store().list('main', { limit: 1, after })).rejects.toMatchObject(bad)
    }
    await expect(store().list('other', { limit: 1, after: next })).rejects.toMatchObject(bad)
  })
}

function contextTests(store: Store): void {
  test('context is compared and set by version; of ten writers at once one wins', async () => {
    const run = await begun(store)
    expect(await store().putContext(run, { version: 1, values: { goal: 'two' } }, 0)).toBe(true)
    expect(await store().putContext(run, { version: 1, values: { goal: 'lost' } }, 0)).toBe(false)
    expect(await store().context(run)).toEqual({ version: 1, values: { goal: 'two' } })
    const won = await Promise.all(upTo(10).map((n) => store().putContext(run, { version: 2, values: { n } }, 1)))
    expect(won.filter(Boolean)).toHaveLength(1)
    expect((await store().context(run))?.version).toBe(2)
    expect(await store().putContext({ ...run, run_id: 'run_x' }, { version: 1, values: {} }, 0)).toBe(false)
  })

  test('artifacts are listed by name; the newest of a name stays', async () => {
    const run = await begun(store)
    const item = {
      name: 'out/brief.md',
      ref: `objstore://main/${'a'.repeat(64)}`,
      sha256: 'a'.repeat(64),
      bytes: 3,
      media_type: 'text/markdown',
      block_id: 'write',
      attempt: 1,
    }
    await store().putArtifact(run, item)
    await store().putArtifact(run, { ...item, name: 'a.json' })
    await store().putArtifact(run, { ...item, bytes: 4, attempt: 2 })
    expect(await store().artifacts(run)).toEqual([
      { ...item, name: 'a.json' },
      { ...item, bytes: 4, attempt: 2 },
    ])
    // A block that was sent back begins with its first attempt again.
    await store().putArtifact(run, { ...item, bytes: 5, attempt: 1, epoch: 1 })
    expect((await store().artifacts(run))[1]).toEqual({ ...item, bytes: 5, attempt: 1, epoch: 1 })
  })
}

function tenantTests(store: Store): void {
  test("another tenant's run answers exactly like an unknown one, and cannot be written", async () => {
    const run = await begun(store)
    await store().putProjection(run, { block: 0, ordinal: 1, state: 'running', attempt: 1, holder: 'h' })
    await store().putApproval(run, question('apr_1', 0), 'token-1')
    const before = await store().head(run)
    const foreign = { tenant: 'other', run_id: run.run_id }
    expect(await store().head(foreign)).toBeUndefined()
    expect(await store().meta(foreign)).toBeUndefined()
    expect(await store().events(foreign, 0, 10)).toEqual([])
    expect(await store().projections(foreign)).toEqual([])
    expect(await store().approval(foreign, 'apr_1')).toBeUndefined()
    expect(await store().context(foreign)).toBeUndefined()
    expect(await store().append(step(foreign, '0', 10))).toEqual({ ok: false, because: 'unknown_run' })
    expect(await store().putContext(foreign, { version: 1, values: {} }, 0)).toBe(false)
    expect(await store().renewLease(foreign, { block: 0 }, 'h', time(9))).toBe(false)
    await store().settleOutbox(foreign, ['start'])
    await store().moveCheck(foreign, newRun(1).check_at, undefined)
    expect(await store().head(run)).toEqual(before)
    expect(await store().context(run)).toMatchObject({ version: 0 })
  })

  test('two tenants may have the same run id', async () => {
    await store().create(newRun(1))
    await store().create(newRun(1, { tenant: 'other', dag_name: 'theirs' }))
    await store().append(step(keyOf(newRun(1).meta), '0', 10))
    expect(await seqs(store, { tenant: 'other', run_id: newRun(1).meta.run_id })).toEqual([1])
    expect((await store().list('other', { limit: 9 })).runs.map(({ dag_name }) => dag_name)).toEqual(['theirs'])
  })
}

function reopenTests(opened: () => OpenedRunStore): void {
  test('everything is still there after a new process opened the store', async () => {
    const first = opened().store
    const run = await begun(() => first)
    await begun(() => first, 2)
    await first.append(step(run, '0', 1_010, { start: { block: 0, limit: 0 }, events: [started('b0', 1)] }))
    await first.append(step(run, 'a1', 10, { approval: { id: 'apr_1', was: null, set: pending(1) } }))
    await first.putProjection(run, { block: 0, ordinal: 1_010, state: 'running', attempt: 1, holder: 'boot/1' })
    await first.putApproval(run, question('apr_1', 1), 'token-1')
    await first.waitJoin(run, '4', { need: 2, token: 't1' })
    await first.signalJoin(run, '4', 'a')
    await first.putContext(run, { version: 1, values: { goal: 'kept' } }, 0)
    await first.append(step(run, '5', 10, { open_items: { block: 5 }, child: { lane: '5', run_id: 'run_c' } }))
    await first.append(
      step(run, '5.7', 10, { item_of: { block: 5, below: 90 }, start: { block: 5, item: 7, limit: 0 } }),
    )
    await first.append(step(run, 'm0', 1, { module: { key: '0', set: { epoch: 1, rules: {} } } }))
    await first.putStop(run)
    const read = async (store: RunStore) => ({
      meta: await store.meta(run),
      head: await store.head(run),
      events: await store.events(run, 0, 100),
      projections: await store.projections(run),
      approvals: await store.approvals(run),
      context: await store.context(run),
      stopped: await store.stopped(run),
      page: await store.list('main', { limit: 1 }),
      due: await store.due(time(1_000_000), 10),
    })
    const before = await read(first)
    const second = await opened().reopen()
    expect(await read(second)).toEqual(before)
    expect(await second.signalJoin(run, '4', 'b')).toEqual({ done: ['a', 'b'], need: 2, tokens: ['t1'] })
    expect(await second.append(step(run, '0', 1_010))).toEqual({ ok: false, because: 'already' })
    expect(await second.append(step(run, '0', 1_090, { end: { block: 0 } }))).toEqual({ ok: true, seq: 7 })
    const after = before.page.next ?? ''
    expect((await second.list('main', { limit: 5, after })).runs.map(({ run_id }) => run_id)).toEqual([run.run_id])
  })
}
