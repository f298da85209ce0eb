import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { at, ending, keyOf, newRun, step, time } from '../../conformance/run-store-fixture.ts'
import { type DynamodbEmulator, startDynamodb } from '../../emulators/dynamodb.ts'
import { type DynamodbPlace, openPlace } from './dynamodb-place.ts'
import { loseAnswer, loseRequest } from './interrupt.ts'

/** As run-store-lost-answers: the SDK asks again for what the table did, now of budgets and of what is a tenant's. */
let emulator: DynamodbEmulator
let place: DynamodbPlace
beforeAll(async () => {
  emulator = await startDynamodb()
})
afterAll(() => emulator.close())
beforeEach(async () => {
  place = await openPlace(emulator)
})
afterEach(() => place.close())

const run = keyOf(newRun(1).meta)
const RUNS = { tenant: 'main', name: 'runs' }

describe('leases', () => {
  test.each(['UpdateExpression', '"Item":'])('a taking whose %s went unheard took one', async (like) => {
    if (like === 'UpdateExpression') await place.store.takeLease(RUNS, 'x', time(1), 2)
    loseAnswer(place.client, new RegExp(like))
    expect(await place.store.takeLease(RUNS, 'a', time(1), 2)).toBe(true)
    expect(await place.store.takeLease(RUNS, 'a', time(2), 2)).toBe(true)
    expect(await place.store.leases(RUNS)).toMatchObject({ a: time(2) })
  })

  test('a taking that was itself lost while the pool filled is refused', async () => {
    loseRequest(place.client, /"Item":/, () => place.another().takeLease(RUNS, 'b', time(1), 1))
    expect(await place.store.takeLease(RUNS, 'a', time(1), 1)).toBe(false)
    expect(await place.store.leases(RUNS)).toEqual({ b: time(1) })
  })

  test('a taking heard late, after the lease was dropped, has a lease again: its holder believes so', async () => {
    await place.store.takeLease(RUNS, 'x', time(1), 2)
    loseAnswer(place.client, /UpdateExpression/, () => place.another().dropLease(RUNS, 'a'))
    expect(await place.store.takeLease(RUNS, 'a', time(1), 2)).toBe(true)
    expect(await place.store.leases(RUNS)).toEqual({ a: time(1), x: time(1) })
  })

  const between: readonly (readonly [string, (store: RunStore) => Promise<unknown>])[] = [
    ['nobody wrote', async () => {}],
    ['one came', (store) => store.takeLease(RUNS, 'c', time(1), 9)],
    ['one went', (store) => store.dropLease(RUNS, 'b')],
  ]
  test.each(between)('an extension unheard, while %s, undoes nothing', async (what, then) => {
    for (const holder of ['a', 'b']) await place.store.takeLease(RUNS, holder, time(1), 9)
    loseAnswer(place.client, /UpdateExpression/, () => then(place.another()))
    await place.store.extendLeases(RUNS, ['a', 'b'], time(5))
    const { a, ...others } = await place.store.leases(RUNS)
    expect(a).toBe(time(5))
    const came = what === 'one came' ? { c: time(1) } : {}
    expect(others).toEqual(what === 'one went' ? {} : { b: time(5), ...came })
  })

  test('an extension that was lost itself while one came and one went starts over', async () => {
    for (const holder of ['a', 'b']) await place.store.takeLease(RUNS, holder, time(1), 9)
    loseRequest(place.client, /UpdateExpression/, async () => {
      await place.another().takeLease(RUNS, 'c', time(1), 9)
      await place.another().dropLease(RUNS, 'b')
    })
    await place.store.extendLeases(RUNS, ['a', 'b'], time(5))
    expect(await place.store.leases(RUNS)).toEqual({ a: time(5), c: time(1) })
  })
})

describe('the queue', () => {
  const release = { at: time(5), deadline_at: time(9), check_at: time(8) }
  beforeEach(() => place.store.create({ ...newRun(1), queued: true, outbox: [] }))

  test.each<readonly [string, (store: RunStore) => Promise<unknown>]>([
    ['nobody wrote', async () => {}],
    ['its start was performed', (store) => store.settleOutbox(run, ['start'])],
    ['the run ended', (store) => store.append(ending(run))],
  ])('who released a run unheard, while %s, hears that it did', async (_, then) => {
    loseAnswer(place.client, /UpdateExpression/, () => then(place.another()))
    expect(await place.store.releaseQueued(run, release)).toBe(true)
    expect(await place.store.releaseQueued(run, release)).toBe(false)
  })

  test('who was overtaken does not', async () => {
    loseRequest(place.client, /UpdateExpression/, () => place.another().releaseQueued(run, release))
    expect(await place.store.releaseQueued(run, release)).toBe(false)
  })

  test('a place left unheard is left', async () => {
    const queued = { ...run, at: time(1) }
    await place.store.enqueue(queued)
    loseAnswer(place.client, /"Key"/)
    await place.store.dequeue(queued)
    expect(await place.store.queued('main', 9)).toEqual([])
  })
})

describe('the hold of starts', () => {
  test('who released it unheard, while it was held again, hears that it did and releases no more', async () => {
    await place.store.holdStarts('main', { by: 'user:ana', at: time(1) })
    const again = { by: 'user:bo', at: time(2) }
    loseAnswer(place.client, /UpdateExpression/, () => place.another().holdStarts('main', again))
    expect(await place.store.releaseStarts('main')).toBe(true)
    expect(await place.store.startHold('main')).toEqual(again)
  })

  test('who released it unheard hears that it did', async () => {
    await place.store.holdStarts('main', { by: 'user:ana', at: time(1) })
    loseAnswer(place.client, /UpdateExpression/)
    expect(await place.store.releaseStarts('main')).toBe(true)
    expect(await place.store.startHold('main')).toBeUndefined()
    expect(await place.store.releaseStarts('main')).toBe(false)
  })

  test('who was overtaken does not', async () => {
    await place.store.holdStarts('main', { by: 'user:ana', at: time(1) })
    loseRequest(place.client, /UpdateExpression/, () => place.another().releaseStarts('main'))
    expect(await place.store.releaseStarts('main')).toBe(false)
  })
})

describe('the request rate', () => {
  const count = (cap: number) => place.store.countRequest('main', 'user:ana', '12:00', cap)

  test.each([1, 2])('a request counted unheard is counted once, be it the last of %i', async (cap) => {
    for (let i = 1; i < cap; i += 1) await count(cap)
    loseAnswer(place.client, /UpdateExpression/)
    expect(await count(cap)).toBe(true)
    expect(await count(cap)).toBe(false)
  })

  test('with another between it is counted twice, never one too few', async () => {
    loseAnswer(place.client, /UpdateExpression/, () => place.another().countRequest('main', 'user:ana', '12:00', 3))
    expect(await count(3)).toBe(true)
    expect(await count(3)).toBe(false)
  })
})

test('a link written unheard is one', async () => {
  const link = { run_id: 'run_1', from: 'run_0', kind: 'retry', at: time(1) } as const
  loseAnswer(place.client, /"Item":/)
  await place.store.linkRun('main', 'run_0', link)
  expect(await place.store.lineage('main', 'run_0')).toEqual([link])
})

test('an attempt noted unheard is this run’s, and one that another noted meanwhile is not', async () => {
  const attempt = {
    run_id: 'run_1',
    at: time(1),
    status: 'PARTIAL',
    fingerprint: 'f',
    unmet: ['AC1'],
    metCount: 0,
    totalCount: 1,
  } as const
  loseAnswer(place.client, /"Item":/)
  expect(await place.store.putGoalAttempt('main', 'run_0', 1, attempt)).toBe(true)
  const other = { ...attempt, run_id: 'run_2' }
  loseRequest(place.client, /"Item":/, () => place.another().putGoalAttempt('main', 'run_0', 2, other))
  expect(await place.store.putGoalAttempt('main', 'run_0', 2, attempt)).toBe(false)
  expect((await place.store.goalAttempts('main', 'run_0')).map(({ run_id }) => run_id)).toEqual(['run_1', 'run_2'])
})

test('a reservation and a settlement made unheard are made once', async () => {
  await place.store.create({ ...newRun(1), caps: { cap_tokens: 10 } })
  loseAnswer(place.client, /list_append/)
  const reserve = { tokens: 6, usd_micros: 2 }
  expect(await place.store.append(step(run, '0', at(1, 20), { reserve }))).toMatchObject({ ok: true })
  expect((await place.store.head(run))?.budget).toMatchObject({ committed_tokens: 6, committed_usd_micros: 2 })
  loseAnswer(place.client, /list_append/)
  const settle = { reserved: reserve, spent: { tokens: 5, usd_micros: 1 } }
  expect(await place.store.append(step(run, '0', at(1, 30), { settle }))).toMatchObject({ ok: true })
  expect((await place.store.head(run))?.budget).toMatchObject({ committed_tokens: 5, spent_tokens: 5 })
})
