import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSqliteJournal } from '../../../infra/local/asl/sqlite-journal.ts'
import {
  allCommitted,
  commitsDone,
  commitTogether,
  onTransactions,
  openDatabase,
  transaction,
} from '../../../infra/local/database.ts'
import { createHost } from '../../../infra/local/host.ts'
import { localPrincipal } from '../../../infra/local/login.ts'
import { liveRunsOf } from '../../../infra/local/run-store/live-runs.ts'
import { openRunStore } from '../../../infra/local/run-store/run-store.ts'
import { endStreamLeases } from '../../../infra/local/run-store/tenant-items.ts'
import { listen } from '../../../infra/local/server.ts'
import { Fault } from '../../../shared/errors.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { ending, keyOf, newRun, question, step } from '../../conformance/run-store-fixture.ts'
import { openTestPlace } from '../test-place.ts'

/** Work that does nothing beyond its answer is answered before it is on the disk, and is never told before that. */
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-decided-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const REPEATABLE = { repeatable: true } as const
const run = keyOf(newRun(1).meta)

interface Opened {
  readonly db: DatabaseSync
  readonly store: RunStore
  commits(): number
}

async function open(): Promise<Opened> {
  const db = openDatabase(folder)
  const store = openRunStore(db)
  let commits = 0
  onTransactions(db, {
    afterCommit() {
      commits += 1
    },
  })
  await store.create(newRun(1))
  commits = 0
  return { db, store, commits: () => commits }
}

/** What a place finds that opens the folder next. */
async function reopened<T>({ db }: Opened, look: (store: RunStore) => Promise<T>): Promise<T> {
  await commitsDone(db)
  db.close()
  const again = openDatabase(folder)
  try {
    return await look(openRunStore(again))
  } finally {
    again.close()
  }
}

const idsOf = async (store: RunStore) => (await store.events(run, 1, 99)).map(({ id }) => id)

const madeRun = keyOf(newRun(2).meta)

test('a run, its steps and its end are one commit, and a reader finds all of it', async () => {
  const opened = await open()
  const { db, store, commits } = opened
  expect(await store.create(newRun(2))).toEqual({ created: true, meta: newRun(2).meta })
  expect((await store.create(newRun(2))).created).toBe(false)
  for (let lane = 0; lane < 5; lane += 1) await store.append(step(madeRun, `${lane}`, 10, REPEATABLE))
  await store.settleOutbox(madeRun, ['start'])
  const seen = { meta: await store.meta(madeRun), context: await store.context(madeRun) }
  expect([commits(), seen.context?.version]).toEqual([0, 0])
  await store.append(ending(madeRun))
  expect(commits()).toBe(0)
  await allCommitted(db)
  expect(commits()).toBe(1)
  const head = await store.head(madeRun)
  expect([head?.seq, head?.outbox]).toEqual([7, []])
  expect(db.prepare('SELECT count(*) AS rows FROM outbox WHERE run = 2').get()).toEqual({ rows: 0 })
  await reopened(opened, async (again) => {
    expect(await again.head(madeRun)).toEqual(head)
    expect({ meta: await again.meta(madeRun), context: await again.context(madeRun) }).toEqual(seen)
    expect(await again.create(newRun(3))).toMatchObject({ created: true })
  })
})

test('whoever lists runs, looks for what is due or for the seal sees one that was made in this moment', async () => {
  const { store, db } = await open()
  await store.create(newRun(2))
  expect((await store.list('main', { limit: 9 })).runs.map(({ run_id }) => run_id)).toContain(madeRun.run_id)
  await store.create(newRun(3))
  expect(await store.due(newRun(3).check_at, 9)).toContainEqual(keyOf(newRun(3).meta))
  await store.create(newRun(4))
  expect(await store.sealed(keyOf(newRun(4).meta))).toMatchObject({ seq: 0 })
  db.close()
})

test('what changes rows of a run that was made in this moment finds them', async () => {
  const opened = await open()
  const { db, store } = opened
  const values = { goal: 'another' }
  const was = newRun(2).outbox[0] ?? { id: '', at: '', kind: 'start_run' as const }
  await store.create(newRun(2))
  await Promise.all([
    store.putStop(madeRun),
    store.putContext(madeRun, { version: 1, values }, 0),
    store.moveCheck(madeRun, newRun(2).check_at, undefined),
    store.moveEntry(madeRun, was, undefined),
    store.putApproval(madeRun, question('a', 0), 'token'),
  ])
  const look = async (of: RunStore) => {
    const { check_at, outbox } = (await of.head(madeRun)) ?? {}
    const { version } = (await of.context(madeRun)) ?? {}
    return [await of.stopped(madeRun, 0), version, check_at, outbox, (await of.approvals(madeRun)).length]
  }
  const found = [true, 1, undefined, [], 1]
  expect(await look(store)).toEqual(found)
  // Its end closes the question.
  await store.append(ending(madeRun))
  expect(db.prepare('SELECT count(*) AS rows FROM approvals WHERE closed_at IS NULL').get()).toEqual({ rows: 0 })
  expect(await reopened(opened, look)).toEqual(found)
})

test('a run that was made is made again after a transaction that failed, and none stands for it', async () => {
  const opened = await open()
  const { db, store } = opened
  const fail = () => expect(() => transaction(db, () => db.exec('no SQL'))).toThrow()
  await store.create(newRun(2))
  fail()
  await store.append(step(madeRun, '1', 10, REPEATABLE))
  fail()
  await store.create(newRun(3))
  fail()
  expect((await store.head(madeRun))?.lanes).toMatchObject({ '1': 10 })
  const heads = async (of: RunStore) => [await of.head(madeRun), await of.head(keyOf(newRun(3).meta))]
  const seen = await heads(store)
  expect(seen.map((head) => head?.state)).toEqual(['running', 'running'])
  expect(await reopened(opened, heads)).toEqual(seen)
})

test('who reads a run that was made in this moment reads it whole, whoever fails meanwhile', async () => {
  const { db, store } = await open()
  await store.create(newRun(2))
  await store.append(step(madeRun, '1', 10, REPEATABLE))
  const read = Promise.all([store.events(madeRun, 0, 9), store.projections(madeRun), store.itemProjections(madeRun, 1)])
  const failed = commitTogether(db, () => db.exec('no SQL'))
  await expect(failed).rejects.toMatchObject({ name: 'Bug' })
  const [events] = await read
  expect(events.map(({ seq }) => seq)).toEqual([1, 2])
  db.close()
})

const owed = (kind: 'release_lease' | 'answer_parent') => ({ id: kind, at: newRun(2).meta.created_at, kind })

test('a run that is killed before the commit of its end goes on, and one that was told has ended', async () => {
  const { db, store, commits } = await open()
  await store.create(newRun(2))
  await store.append(step(run, '1', 10))
  const before = commits()
  const done = await store.append(ending(madeRun, { outbox: [owed('release_lease')] }))
  expect([done.ok, commits()]).toEqual([true, before])
  const file = db.prepare('SELECT state FROM runs WHERE run_id = ?')
  expect(file.get(madeRun.run_id)).toEqual({ state: 'running' })
  // What it owes is done in the same moment: nothing of it has a row.
  await store.settleOutbox(madeRun, ['start', 'release_lease'])
  await store.events(madeRun, 0, 9)
  expect(commits()).toBe(before + 1)
  expect(file.get(madeRun.run_id)).toEqual({ state: 'cancelled' })
  expect(db.prepare('SELECT count(*) AS rows FROM outbox WHERE run = 2').get()).toEqual({ rows: 0 })
  db.close()
})

test('an end that a parent, or who asked a question, waits for comes with its commit', async () => {
  const { db, store, commits } = await open()
  await store.append(ending(run, { outbox: [owed('answer_parent')] }))
  expect(commits()).toBe(1)
  await store.create(newRun(2))
  await store.putApproval(madeRun, question('a', 0), 'token')
  const before = commits()
  await store.append(ending(madeRun))
  expect(commits()).toBe(before + 1)
  db.close()
})

test('a run that somebody is told of, or that somebody waits for, is made with its commit', async () => {
  const { db, store, commits } = await open()
  await store.create({ ...newRun(2), parent_token: 'token' })
  const endpoint = {
    id: 'endpoint-a',
    at: newRun(3).meta.created_at,
    kind: 'endpoint',
    endpoint: 'a',
    from_seq: 1,
  } as const
  await store.create({ ...newRun(3), outbox: [...newRun(3).outbox, endpoint] })
  expect(commits()).toBe(2)
  db.close()
})

test('more runs than are known by number are made in one moment', async () => {
  const opened = await open()
  const { store, commits } = opened
  const many = Array.from({ length: 1_200 }, (_, n) => newRun(n + 2))
  for (const run of many) await store.create(run)
  for (const { meta } of many)
    expect(await store.append(step(keyOf(meta), '1', 10, REPEATABLE))).toMatchObject({ ok: true })
  expect(commits()).toBe(0)
  const seqsOf = (of: RunStore) => Promise.all(many.map(async ({ meta }) => (await of.head(keyOf(meta), []))?.seq))
  expect(new Set(await reopened(opened, seqsOf))).toEqual(new Set([2]))
})

test('a hold and a queue that nobody knew of are found, and those a failed transaction left are not', async () => {
  const { db, store } = await open()
  const hold = { at: newRun(1).meta.created_at, by: 'user:ana' }
  const waiting = { ...run, at: newRun(1).meta.created_at }
  expect([await store.startHold('main'), await store.queued('main', 9)]).toEqual([undefined, []])
  await store.holdStarts('main', hold)
  await store.enqueue(waiting)
  expect([await store.startHold('main'), await store.queued('main', 9)]).toEqual([hold, [waiting]])
  await store.releaseStarts('main')
  await store.dequeue(waiting)
  expect([await store.startHold('main'), await store.queued('main', 9)]).toEqual([undefined, []])
  const failing = [store.holdStarts('main', hold), store.enqueue(waiting), commitTogether(db, () => db.exec('no SQL'))]
  await Promise.allSettled(failing)
  expect([await store.startHold('main'), await store.queued('main', 9)]).toEqual([hold, [waiting]])
  db.close()
})

test('many steps of one turn are one commit, which comes before anybody reads their events or is answered', async () => {
  const opened = await open()
  const { db, store, commits } = opened
  for (let lane = 0; lane < 20; lane += 1) {
    expect(await store.append(step(run, `${lane}`, 10, REPEATABLE))).toEqual({ ok: true, seq: lane + 2 })
  }
  expect([(await store.head(run, []))?.seq, commits()]).toEqual([21, 0])
  expect((await idsOf(store)).length).toBe(20)
  expect(commits()).toBe(1)
  await store.append(step(run, '20', 10, REPEATABLE))
  expect(commits()).toBe(1)
  await allCommitted(db)
  expect([commits(), allCommitted(db)]).toEqual([2, undefined])
  expect((await reopened(opened, idsOf)).length).toBe(21)
})

test('what may not be repeated is answered after its commit, and so is what comes behind it in the same run', async () => {
  const { db, store, commits } = await open()
  const seen: string[] = []
  const tell = (name: string) => () => void seen.push(`${name} after ${commits()}`)
  const first = store.append(step(run, '1', 10)).then(tell('first'))
  const behind = store.append(step(run, '2', 10, REPEATABLE)).then(tell('behind'))
  await Promise.all([first, behind])
  await store.append(step(run, '3', 10, REPEATABLE)).then(tell('alone'))
  expect(seen).toEqual(['first after 1', 'behind after 1', 'alone after 1'])
  await commitsDone(db)
  db.close()
})

test('a work that fails beside it takes nothing of it along', async () => {
  const opened = await open()
  const { db, store } = opened
  await store.append(step(run, '1', 10, REPEATABLE))
  const failed = commitTogether(db, () => db.exec('no SQL'))
  await store.append(step(run, '2', 10, REPEATABLE))
  await expect(failed).rejects.toMatchObject({ name: 'Bug' })
  expect((await store.head(run))?.lanes).toMatchObject({ '1': 10, '2': 10 })
  expect(await store.append(step(run, '1', 10, REPEATABLE))).toEqual({ ok: false, because: 'already' })
  expect(await reopened(opened, idsOf)).toEqual(['1/10/0', '2/10/0'])
})

test('who waits for what was decided hears nothing of a work that fails beside it', async () => {
  const { db, store } = await open()
  await store.append(step(run, '1', 10, REPEATABLE))
  const kept = allCommitted(db)
  const failed = commitTogether(db, () => db.exec('no SQL'))
  await expect(failed).rejects.toMatchObject({ name: 'Bug' })
  await expect(kept).resolves.toBeUndefined()
  db.close()
})

test('what goes with any commit is not forgotten with a work that failed', async () => {
  const { db } = await open()
  const journal = createSqliteJournal(db)
  journal.define('hash', 'text')
  const failed = commitTogether(db, () => db.exec('no SQL'))
  await expect(failed).rejects.toMatchObject({ name: 'Bug' })
  await journal.committed()
  db.close()
})

test('an execution that ends without being taken up leaves no token behind', async () => {
  const { db } = await open()
  const before = createSqliteJournal(db)
  const execution = before.create({ machine: 'm', name: 'n', input: {}, started_at: 0, events: 1 })
  const slot = { execution, path: '', batch: 0 }
  before.openToken('token', slot)
  before.put(slot, { state: 'a', input: {}, token: 'token' })
  await before.durable()
  // As another process finds it.
  const journal = createSqliteJournal(db)
  expect(journal.token('token')).toEqual({ execution: execution.id })
  journal.end(execution.id, { status: 'ABORTED', ended_at: 1 }, false)
  await journal.durable()
  expect(journal.token('token')).toBeUndefined()
  db.close()
})

test('a run that cannot be written, since rows of it are damaged, keeps nobody else from the file', async () => {
  const opened = await open()
  const { db } = opened
  // A row without its META: whoever asks for that run again finds none, and cannot make it.
  await openRunStore(db).create({ ...newRun(9), parent_token: 'token' })
  db.exec('DELETE FROM metas WHERE run = 2')
  db.close()
  const again = openDatabase(folder)
  const store = openRunStore(again)
  await store.append(step(run, '1', 10, REPEATABLE))
  const made = store.create(newRun(9)).then(() => allCommitted(again))
  await expect(made).rejects.toMatchObject({ name: 'Bug' })
  expect(await store.append(step(run, '2', 10, REPEATABLE))).toMatchObject({ ok: true })
  await allCommitted(again)
  await store.putStop(run)
  expect(await reopened({ ...opened, db: again }, idsOf)).toEqual(['1/10/0', '2/10/0'])
})

test('what a run no longer owes it does not owe again after a transaction that failed, ended or not', async () => {
  const opened = await open()
  const { db, store } = opened
  const owed = async (of: RunStore) => (await of.head(run, []))?.outbox.map(({ id }) => id)
  const fail = () => expect(() => transaction(db, () => db.exec('no SQL'))).toThrow()
  await store.settleOutbox(run, ['start'])
  fail()
  expect(await owed(store)).toEqual([])
  await store.append(ending(run, { outbox: [{ id: 'end', at: newRun(1).meta.created_at, kind: 'anchor' }] }))
  await store.settleOutbox(run, ['end'])
  fail()
  expect(await owed(store)).toEqual([])
  const head = await store.head(run)
  expect(await reopened(opened, (again) => again.head(run))).toEqual(head)
})

test('while the disk refuses it nobody is told of it, and it is written once the disk takes it', async () => {
  const opened = await open()
  const { db, store } = opened
  db.exec('PRAGMA query_only = 1')
  expect(await store.append(step(run, '1', 10, REPEATABLE))).toEqual({ ok: true, seq: 2 })
  await expect(allCommitted(db)).rejects.toMatchObject({ name: 'Unavailable', code: 'store_unavailable' })
  await expect(store.append(step(run, '2', 10))).rejects.toMatchObject({ name: 'Unavailable' })
  // Nor is more decided then.
  await expect(store.append(step(run, '3', 10, REPEATABLE))).rejects.toMatchObject({ name: 'Unavailable' })
  expect((await store.head(run))?.lanes).toEqual({ run: expect.any(Number), '1': 10 })
  await expect(store.events(run, 0, 9)).rejects.toMatchObject({ name: 'Unavailable' })
  db.exec('PRAGMA query_only = 0')
  expect(await store.append(step(run, '2', 10))).toEqual({ ok: true, seq: 3 })
  expect(await reopened(opened, idsOf)).toEqual(['1/10/0', '2/10/0'])
})

test('an answer over HTTP waits until what it says is on the disk, and is 503 where it cannot be written', async () => {
  const { place, close } = await openTestPlace()
  const kept = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const [first, second] = kept
  const server = await listen(0, {
    host: createHost(() => place.world),
    objects: place.world.objects,
    principal: localPrincipal(),
    log: place.world.log,
    kept: () => kept.shift()?.promise,
    safety: SettingsSchema.parse({}).safety,
  })
  let answered = false
  const waiting = fetch(`${server.url}/api/dag/runs`).then(({ status }) => {
    answered = true
    return status
  })
  await vi.waitUntil(() => kept.length === 1, { timeout: 60_000 })
  expect(answered).toBe(false)
  first?.resolve()
  expect(await waiting).toBe(200)
  const refused = new Fault('Unavailable', 'store_unavailable', 'Cannot write to the run store: the disk is full.')
  second?.reject(refused)
  second?.promise.catch(() => {})
  const answer = await fetch(`${server.url}/api/dag/runs`)
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'store_unavailable' }])
  await server.close()
  await close()
})

test('who closes does not wait for a disk that refuses', async () => {
  const { db, store } = await open()
  db.exec('PRAGMA query_only = 1')
  await store.append(step(run, '1', 10, REPEATABLE))
  await commitsDone(db)
  db.close()
})

test('who writes to a database that is closed, or waits for its commit, is refused', async () => {
  const { db, store } = await open()
  await store.append(step(run, '1', 10, REPEATABLE))
  const waits = [store.append(step(run, '2', 10)), allCommitted(db)]
  db.close()
  for (const one of waits) await expect(one).rejects.toMatchObject({ name: 'Unavailable', code: 'store_unavailable' })
  await expect(store.putStop(run)).rejects.toMatchObject({ name: 'Unavailable' })
})

test('runs that ended leave memory, whatever moved their checks in the same commit', async () => {
  const { db, store } = await open()
  for (let n = 2; n <= 100; n += 1) {
    const { meta, check_at } = newRun(n)
    await store.create(newRun(n))
    await Promise.all([store.append(ending(keyOf(meta))), store.moveCheck(keyOf(meta), check_at, undefined)])
  }
  const live = liveRunsOf(db)
  const kept = Array.from({ length: 100 }, (_, n) => live.peek(n + 1)).filter((one) => one?.state === 'cancelled')
  expect(kept.length).toBe(64)
  db.close()
})

test('a stream that was opened before those of an earlier process are counted out leaves no lease behind', async () => {
  const opened = await open()
  const { db, store } = opened
  const pool = { tenant: run.tenant, name: 'streams' } as const
  await store.takeLease(pool, 'a', '2026-01-01T01:00:00.000Z', 2)
  endStreamLeases(db)
  expect(await store.leases(pool)).toEqual({})
  await store.append(step(run, '1', 10))
  await store.dropLease(pool, 'a')
  expect(await reopened(opened, (again) => again.leases(pool))).toEqual({})
})

test('leases are counted at once, and kept with the next commit', async () => {
  const opened = await open()
  const { store, commits } = opened
  const pool = { tenant: run.tenant, name: 'runs' } as const
  const until = '2026-01-01T01:00:00.000Z'
  expect(await Promise.all(['a', 'b', 'c'].map((holder) => store.takeLease(pool, holder, until, 2)))).toEqual([
    true,
    true,
    false,
  ])
  await store.dropLease(pool, 'a')
  expect([await store.takeLease(pool, 'c', until, 2), commits()]).toEqual([true, 0])
  await store.append(step(run, '1', 10))
  expect(commits()).toBe(1)
  expect(await reopened(opened, (again) => again.leases(pool))).toEqual({ b: until, c: until })
})

test('whatever is answered well is in the file, in that order, whoever fails beside it', async () => {
  const someStep = fc.record({
    lane: fc.integer({ min: 0, max: 4 }),
    ordinal: fc.integer({ min: 1, max: 40 }),
    kind: fc.constantFrom('durable', 'repeatable', 'repeatable', 'failing'),
    waits: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(someStep, { maxLength: 40 }), async (steps) => {
      rmSync(folder, { recursive: true, force: true })
      const opened = await open()
      const { db, store } = opened
      const answers: Promise<readonly [number, string] | undefined>[] = []
      for (const { lane, ordinal, kind, waits } of steps) {
        const work =
          kind === 'failing'
            ? commitTogether(db, () => db.exec('no SQL')).then(
                () => undefined,
                () => undefined,
              )
            : store
                .append(step(run, `${lane}`, ordinal, kind === 'repeatable' ? REPEATABLE : {}))
                .then((done) => (done.ok ? ([done.seq, `${lane}/${ordinal}/0`] as const) : undefined))
        answers.push(work)
        if (waits) await work
      }
      const taken = (await Promise.all(answers)).filter((one) => one !== undefined)
      const wanted = taken.toSorted(([a], [b]) => a - b).map(([, id]) => id)
      expect(await reopened(opened, idsOf)).toEqual(wanted)
    }),
    { numRuns: 60 },
  )
})
