import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { at, ending, keyOf, newRun, pending, ready, step, time } from '../../conformance/run-store-fixture.ts'
import { type DynamodbEmulator, startDynamodb } from '../../emulators/dynamodb.ts'
import { type DynamodbPlace, openPlace } from './dynamodb-place.ts'
import { loseAll, loseAnswer, loseRequest } from './interrupt.ts'

/** What happens when the table did what was asked and the SDK, not having heard, asks again. */
let emulator: DynamodbEmulator
let place: DynamodbPlace
const run = keyOf(newRun(1).meta)
beforeAll(async () => {
  emulator = await startDynamodb()
})
afterAll(() => emulator.close())
beforeEach(async () => {
  place = await openPlace(emulator)
})
afterEach(() => place.close())

const mine = step(run, '0', at(1, 10), { start: { block: 0, limit: 0 } })

describe('an append whose answer was lost', () => {
  const meanwhile: readonly (readonly [string, (store: RunStore) => Promise<unknown>])[] = [
    ['nobody wrote', async () => {}],
    ['others wrote so much that it was spilled', (store) => others(store, 40)],
    ['others wrote fifty pages', (store) => others(store, 400)],
    ['another writer went on with its lane', (store) => store.append(step(run, '0', at(1, 90)))],
    ['the run ended', (store) => store.append(ending(run))],
  ]

  test.each(meanwhile)('is answered ok with its seq when meanwhile %s', { tags: ['thorough'] }, async (_, then) => {
    await place.store.create(newRun(1))
    loseAnswer(place.client, /list_append/, () => then(place.another()))
    expect(await place.store.append(mine)).toEqual({ ok: true, seq: 2 })
    const log = await place.store.events(run, 0, 1_000)
    expect(log.filter(({ id }) => id === `0/${at(1, 10)}/0`)).toHaveLength(1)
  })

  test('has its projection written', async () => {
    await place.store.create(newRun(1))
    const projection = { block: 0, ordinal: at(1, 10), state: 'running', attempt: 1 } as const
    loseAnswer(place.client, /list_append/)
    await place.store.append({ ...mine, projection })
    expect(await place.store.projections(run)).toEqual([projection])
  })

  test('is `already` when it was lost itself and another writer took the step', async () => {
    await place.store.create(newRun(1))
    loseRequest(place.client, /list_append/, () => place.another().append(mine))
    expect(await place.store.append(mine)).toEqual({ ok: false, because: 'already' })
    expect((await place.store.events(run, 0, 10)).map(({ seq }) => seq)).toEqual([1, 2])
  })

  test('is `approval` when another writer decided, and `ok` when it decided itself', async () => {
    await place.store.create(newRun(1))
    await place.store.append(step(run, 'a0', at(0, 10), { approval: { id: 'p', was: null, set: pending(0) } }))
    const decide = (lane: string) =>
      step(run, lane, at(0, 90), { approval: { id: 'p', was: 'pending', set: { ...pending(0), status: 'approved' } } })
    loseAnswer(place.client, /list_append/)
    expect(await place.store.append(decide('a0'))).toMatchObject({ ok: true })
    expect(await place.store.append(decide('a1'))).toEqual({ ok: false, because: 'approval' })
  })
})

describe('other writes whose answer was lost', () => {
  test.each(['CTX', 'META', 'HEAD'])('create answers created when %s was written unheard', async (sk) => {
    loseAnswer(place.client, new RegExp(`"sk":{"S":"${sk}"}`))
    expect(await place.store.create(newRun(1))).toEqual({ created: true, meta: newRun(1).meta })
    expect((await place.store.head(run))?.seq).toBe(1)
  })

  test('a HEAD that is put again, unheard the first time, does not undo what came between', async () => {
    loseAnswer(place.client, /"sk":{"S":"HEAD"}/, () => place.another().append(mine))
    expect(await place.store.create(newRun(1))).toMatchObject({ created: true })
    expect((await place.store.head(run))?.seq).toBe(2)
  })

  test.each(['CTX', 'META'])(
    'a create that died after %s is finished by the next, as the first decided',
    async (sk) => {
      loseAll(place.client, sk === 'CTX' ? /"META"/ : /"HEAD"/)
      await expect(place.store.create(newRun(1))).rejects.toMatchObject({ name: 'Unavailable' })
      expect(await place.another().head(run)).toBeUndefined()
      const other = { ...newRun(1, { body_hash: 'other' }), context: { goal: 'another' }, outbox: [] }
      expect(await place.another().create(other)).toEqual({ created: false, meta: newRun(1).meta })
      expect((await place.another().head(run))?.outbox).toEqual(newRun(1).outbox)
      expect((await place.another().context(run))?.values).toEqual(newRun(1).context)
    },
  )

  test('a run whose HEAD has expired is not made again', async () => {
    const old = newRun(1, { created_at: '2025-01-01T00:00:00.000Z' })
    loseAll(place.client, /"HEAD"/)
    await expect(place.store.create(old)).rejects.toMatchObject({ name: 'Unavailable' })
    expect(await place.another().create(old)).toEqual({ created: false, meta: old.meta })
    expect(await place.another().head(run)).toBeUndefined()
  })

  test('a context that was set unheard is set; one that another writer set is not', async () => {
    await place.store.create(newRun(1))
    const set = (n: number, store: RunStore) => store.putContext(run, { version: 1, values: { n } }, 0)
    loseRequest(place.client, /values/, () => set(2, place.another()))
    expect(await set(1, place.store)).toBe(false)
    loseAnswer(place.client, /"0":"version"/)
    expect(await place.store.putContext(run, { version: 2, values: { n: 3 } }, 1)).toBe(true)
    expect(await place.store.context(run)).toEqual({ version: 2, values: { n: 3 } })
  })

  test('what the writer of the end could not spill is spilled at the last look', async () => {
    await place.store.create(newRun(1))
    loseAll(place.client, /"P#/)
    expect(await place.store.append(ending(run))).toEqual({ ok: true, seq: 2 })
    expect((await place.item(run, 'HEAD'))?.log?.L).toHaveLength(2)
    await place.another().moveCheck(run, newRun(1).check_at, undefined)
    expect((await place.item(run, 'HEAD'))?.log?.L).toEqual([])
    expect((await place.another().events(run, 0, 10)).map(({ seq }) => seq)).toEqual([1, 2])
  })

  test('an unreachable table is Unavailable, and names no table', async () => {
    loseAll(place.client, /./)
    const failed = place.store.head(run)
    await expect(failed).rejects.toMatchObject({ name: 'Unavailable', code: 'aws_unavailable' })
    await expect(failed).rejects.not.toThrow(/sluice-test/)
  })

  test('a value past the size of an item is LimitExceeded', async () => {
    await place.store.create(newRun(1))
    const huge = { version: 1, values: { text: 'x'.repeat(420_000) } }
    const refused = { name: 'LimitExceeded', code: 'item_too_large' }
    await expect(place.store.putContext(run, huge, 0)).rejects.toMatchObject(refused)
  })
})

test('a reader between whose reads pages are spilled sees each event once, in order', async () => {
  await place.store.create(newRun(1))
  let rounds = 0
  beforeRequests(place.client, async () => {
    rounds += 1
    if (rounds <= 12) await others(place.another(), 12, rounds)
  })
  const seen: number[] = []
  for (let page = 1; page > 0; ) {
    const events = await place.store.events(run, seen.length, 1_000)
    seen.push(...events.map(({ seq }) => seq))
    page = events.length
  }
  expect(seen).toEqual(Array.from({ length: 1 + 12 * 12 }, (_, i) => i + 1))
})

async function others(store: RunStore, events: number, round = 0): Promise<void> {
  for (let i = 1; i <= events / 4; i += 1) {
    await store.append(
      step(run, '9', at(round * 10 + i, 10), { at: time(i), events: Array.from({ length: 4 }, () => ready('b9')) }),
    )
  }
}

function beforeRequests(client: DynamoDBClient, then: () => Promise<unknown>): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      await then()
      return next(args)
    },
    { step: 'initialize' },
  )
}
