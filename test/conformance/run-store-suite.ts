import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunKey, RunStore } from '../../shared/runs/run-store.ts'
import { searchTests } from './run-search-suite.ts'
import { adoptTests } from './run-store-adopt-suite.ts'
import { appendSuite } from './run-store-append-suite.ts'
import { type DamageItem, damageTests } from './run-store-damage.ts'
import { erasureTests } from './run-store-erasure-suite.ts'
import {
  begun,
  ending,
  keyOf,
  newRun,
  pending,
  question,
  type Store,
  seqs,
  started,
  step,
  time,
  upTo,
} from './run-store-fixture.ts'
import { ask, inboxTests } from './run-store-inbox-suite.ts'
import { languageTests } from './run-store-language-suite.ts'
import { ledgerTests } from './run-store-ledger-suite.ts'
import { modelTests } from './run-store-model.ts'
import { recordSuite } from './run-store-record-suite.ts'
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

    appendSuite(store, heavy)
    recordSuite(store, heavy)
    describe('lists', () => listTests(store))
    describe('context and artifacts', { tags: heavy }, () => contextTests(store))
    inboxTests(store, heavy)
    adoptTests(store, heavy)
    searchTests(store, heavy)
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
    describe('holds and erasures', () => erasureTests(store))
    describe('tenants', () => tenantTests(store))
    describe('another process', () => reopenTests(() => opened))
    describe('model', { tags: heavy }, () => modelTests(open))
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

  test('finds runs by the beginning of their id', async () => {
    for (const n of upTo(3)) await store().create(newRun(n))
    const [one] = (await store().list('main', { limit: 1 })).runs
    const id = one?.run_id ?? ''
    expect(await pages(5, { id_begins: id })).toEqual([[3]])
    expect(await pages(2, { id_begins: id.slice(0, 8) })).toEqual(await pages(2))
    expect(await pages(5, { id_begins: id, state: 'cancelled' })).toEqual([[]])
    expect(await pages(5, { id_begins: 'run_%' })).toEqual([[]])
    expect((await store().list('nobody', { limit: 5, id_begins: id })).runs).toEqual([])
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
    expect(await second.signalJoin(run, '4', 'b')).toEqual({ done: 2, need: 2, tokens: ['t1'] })
    expect(await second.append(step(run, '0', 1_010))).toEqual({ ok: false, because: 'already' })
    expect(await second.append(step(run, '0', 1_090, { end: { block: 0 } }))).toEqual({ ok: true, seq: 7 })
    const after = before.page.next ?? ''
    expect((await second.list('main', { limit: 5, after })).runs.map(({ run_id }) => run_id)).toEqual([run.run_id])
  })
}
