import { describe, expect, test } from 'vitest'
import { readOrdinal } from '../../shared/runs/lane.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import { at, begun, newRun, pending, question, ready, type Store, seqs, step, time, upTo } from './run-store-fixture.ts'

/** What of a run is read: HEAD and what it owes, its events, where its blocks stand, approvals and joins. */
export function recordSuite(store: Store, heavy: string[]): void {
  describe('HEAD and outbox', () => headTests(store))
  describe('events', () => eventTests(store, heavy))
  describe('projections and leases', { tags: heavy }, () => projectionTests(store))
  describe('approvals', { tags: heavy }, () => approvalTests(store))
  describe('joins', { tags: heavy }, () => joinTests(store))
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
    expect(await store().signalJoin(run, '4', 'b')).toEqual({ done: 1, need: 2, tokens: ['t1'] })
    expect(await store().signalJoin(run, '4', 'a')).toEqual({ done: 2, need: 2, tokens: ['t1'] })
  })

  test('signals before the wait: the waiter is told done and leaves no token', async () => {
    const run = await begun(store)
    expect(await store().signalJoin(run, '4', 'a')).toEqual({ done: 1, tokens: [] })
    expect(await store().signalJoin(run, '4', 'b')).toEqual({ done: 2, tokens: [] })
    expect(await store().waitJoin(run, '4', { need: 2, token: 't1' })).toBe('done')
    expect(await store().signalJoin(run, '4', 'a')).toEqual({ done: 2, tokens: [] })
  })

  test('a source counts once however often it signals', async () => {
    const run = await begun(store)
    for (let i = 0; i < 3; i += 1) expect((await store().signalJoin(run, '4', 'a')).done).toBe(1)
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
    expect((await store().signalJoin(a, '5', 'y')).done).toBe(1)
    expect((await store().signalJoin(b, '4', 'z')).done).toBe(1)
  })

  test('of a waiter and 40 signallers at once somebody always sees that all is done', async () => {
    const run = await begun(store)
    const signals = upTo(40).map((n) => store().signalJoin(run, '4', String(n)))
    const [waited, ...items] = await Promise.all([store().waitJoin(run, '4', { need: 40, token: 't' }), ...signals])
    const seen = items.filter(({ done, need, tokens }) => done === need && tokens.length > 0)
    expect(seen.length > 0 || waited === 'done').toBe(true)
  })
}
