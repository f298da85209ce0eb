import { randomBytes } from 'node:crypto'
import { type DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import type { Append, RunStore } from '../../../shared/runs/run-store.ts'
import { at, keyOf, newRun, pending, step } from '../../conformance/run-store-fixture.ts'
import { createItemStore } from '../../faults/item-store/create-item-store.ts'
import { EACH } from '../../how-much.ts'

/** A large pool of leases in shards (docs/adr/0086): what it costs, what it was before, and who dies in the middle. */
const POOL = { tenant: 'main', name: 'runs' }
const KEY = { pk: { S: 'T#main' }, sk: { S: 'LEASES' } }
const NOW = Date.parse('2026-01-01T00:00:00.000Z')
const until = (ms: number) => new Date(NOW + ms).toISOString()
const holders = (n: number, from = 0) =>
  Array.from({ length: n }, (_, i) => `run_${String(from + i).padStart(26, '0')}`)

type Client = Pick<DynamoDBClient, 'send'>

function openTable(through: (client: Client) => Client = (client) => client) {
  const units = { wcu: 0, rcu: 0, largest: 0 }
  const items = createItemStore(({ wcu, rcu }) => {
    units.wcu += wcu
    units.rcu += rcu
    units.largest = Math.max(units.largest, wcu)
  })
  const clock = { at: NOW, now: () => clock.at, delay: async () => undefined }
  const on = (client: Client) => runStoreOn({ client, table: 'runs', clock, ids: { random: (n) => randomBytes(n) } })
  return { items, units, clock, store: on(through(items.client)), plain: on(items.client) }
}

const sizes = ({ items }: ReturnType<typeof openTable>) =>
  items.items().flatMap(({ leases }) => (leases === undefined ? [] : [Object.keys(leases.M ?? {}).length]))

async function takeAll(store: RunStore, names: readonly string[], cap: number): Promise<number> {
  const taken = await Promise.all(names.map((name) => store.takeLease(POOL, name, until(900_000), cap)))
  return taken.filter(Boolean).length
}

describe('what a lease costs', () => {
  test.each([10, 100, 900, 999])(
    'beside %i active runs at most 4 write units, taken and given back',
    async (active) => {
      const place = openTable()
      expect(await takeAll(place.plain, holders(active), 1_000)).toBe(active)
      // Later, when the sweep has looked: nobody is on the way any more.
      place.clock.at += 120_000
      await place.plain.extendLeases(POOL, [], until(0))
      const rows: { wcu: number; rcu: number }[] = []
      for (const name of holders(40, 5_000)) {
        Object.assign(place.units, { wcu: 0, rcu: 0 })
        expect(await place.store.takeLease(POOL, name, until(1), 1_000)).toBe(true)
        await place.store.dropLease(POOL, name)
        rows.push({ wcu: place.units.wcu, rcu: place.units.rcu })
      }
      // One beside which a shard is made, or which says that some lie elsewhere, pays that once.
      const worst = rows.map(({ wcu }) => wcu).toSorted((a, b) => b - a)
      expect(
        worst.slice(2).every((wcu) => wcu <= 4),
        String(worst),
      ).toBe(true)
      expect(place.units.largest).toBeLessThanOrEqual(2)
      if (active <= 100) expect(Math.max(...rows.map(({ rcu }) => rcu))).toBeLessThanOrEqual(6)
    },
  )

  test.each([10, 999])('a rest beside %i active runs takes at most 4 write units', async (active) => {
    const place = openTable()
    await takeAll(place.plain, holders(active), 1_000)
    place.clock.at += 120_000
    await place.plain.extendLeases(POOL, [], until(0))
    const asked = async (
      n: number,
      asking: Partial<Append>,
      deciding: Partial<Append>,
      between: () => Promise<void>,
    ) => {
      await place.plain.create(newRun(n))
      const run = keyOf(newRun(n).meta)
      Object.assign(place.units, { wcu: 0 })
      const set = { ...pending(0), status: 'approved' } as const
      const approval = { id: 'apr_1', was: null, set: pending(0) }
      expect(await place.store.append(step(run, 'a0', at(0, 10), { approval, ...asking }))).toMatchObject({ ok: true })
      await between()
      const decided = { approval: { id: 'apr_1', was: pending(0), set }, ...deciding }
      expect(await place.store.append(step(run, 'a0', at(0, 90), decided))).toMatchObject({ ok: true })
      return place.units.wcu
    }
    const plain = await asked(1, {}, {}, async () => {})
    const set = { since: until(0) }
    const { run_id } = newRun(2).meta
    await place.plain.takeLease(POOL, run_id, until(900_000), 1_000)
    const rested = await asked(2, { rest: { was: null, set } }, { rest: { was: set, set: null } }, async () => {
      await place.store.dropLease(POOL, run_id, until(900_000))
      expect(await place.store.takeLease(POOL, run_id, until(900_001), 1_000)).toBe(true)
    })
    expect(rested - plain).toBeLessThanOrEqual(4)
  })

  test('a thousand lie in 32 items, and none has more than 32', async () => {
    const place = openTable()
    await takeAll(place.store, holders(1_000), 1_000)
    expect(Math.max(...sizes(place))).toBe(32)
    expect(sizes(place)).toHaveLength(32)
  })

  test('extending a thousand is a write a shard, each of 2 units', async () => {
    const place = openTable()
    await takeAll(place.store, holders(1_000), 1_000)
    Object.assign(place.units, { wcu: 0 })
    await place.store.extendLeases(POOL, holders(1_000), until(1_800_000))
    expect(place.units.wcu).toBeLessThanOrEqual(64)
    expect(new Set(Object.values(await place.store.leases(POOL)))).toEqual(new Set([until(1_800_000)]))
  })
})

/** The item as versions before wrote it, and as they took a lease of it. */
async function oneItem({ items }: ReturnType<typeof openTable>, names: readonly string[]): Promise<void> {
  const leases = { M: Object.fromEntries(names.map((name) => [name, { S: until(900_000) }])) }
  await items.client.send(new PutItemCommand({ TableName: 'runs', Item: { ...KEY, leases, v: { N: '7' } } }))
}

async function takenByOlder({ items }: ReturnType<typeof openTable>, name: string, cap: number): Promise<boolean> {
  const taken = items.client.send(
    new UpdateItemCommand({
      TableName: 'runs',
      Key: KEY,
      UpdateExpression: 'SET #0.#1 = :0 ADD #2 :1',
      ConditionExpression: 'attribute_exists(#0) AND (attribute_exists(#0.#1) OR size(#0) < :2)',
      ExpressionAttributeNames: { '#0': 'leases', '#1': name, '#2': 'v' },
      ExpressionAttributeValues: { ':0': { S: until(900_000) }, ':1': { N: '1' }, ':2': { N: String(cap) } },
    }),
  )
  return taken.then(
    () => true,
    () => false,
  )
}

describe('a pool that was one item', () => {
  test('is read, taken from, given back to and extended as it is', async () => {
    const place = openTable()
    await oneItem(place, holders(200))
    expect(Object.keys(await place.store.leases(POOL))).toEqual(holders(200))
    expect(await place.store.takeLease(POOL, 'run_x', until(1), 200)).toBe(false)
    await place.store.dropLease(POOL, holders(1)[0] ?? '')
    expect(await place.store.takeLease(POOL, 'run_x', until(1), 200)).toBe(true)
    await place.store.extendLeases(POOL, ['run_x'], until(5))
    expect((await place.store.leases(POOL)).run_x).toBe(until(5))
  })

  test('is shared with functions of before for a quarter of an hour, and no more are in than the cap', async () => {
    const place = openTable()
    await oneItem(place, holders(90))
    for (let i = 0; i < 10; i += 1) {
      const name = `run_${i}`
      expect(i % 2 === 0 ? await takenByOlder(place, name, 100) : await takeAll(place.store, [name], 100)).toBeTruthy()
    }
    expect([await takenByOlder(place, 'run_y', 100), await takeAll(place.store, ['run_z'], 100)]).toEqual([false, 0])
    expect(sizes(place)).toEqual([100])
  })

  test('is shards after that: none is lost, each is given back once, the cap holds', async () => {
    const place = openTable()
    await oneItem(place, holders(700))
    expect(await takeAll(place.store, ['run_a'], 1_000)).toBe(1)
    place.clock.at += 900_000
    expect(await takeAll(place.store, ['run_b'], 1_000)).toBe(1)
    expect(Object.keys(await place.store.leases(POOL)).sort()).toEqual([...holders(700), 'run_a', 'run_b'].sort())
    expect(Math.max(...sizes(place))).toBe(32)
    expect(await takeAll(place.store, holders(400, 2_000), 1_000)).toBe(298)
    await Promise.all([...holders(700), 'run_a', 'run_b'].map((name) => place.store.dropLease(POOL, name)))
    expect(Object.keys(await place.store.leases(POOL))).toHaveLength(298)
  })
})

/** Fails the k-th write and everything after it, as a function does that dies. */
const dyingAt =
  (k: number) =>
  (client: Client): Client => {
    let writes = 0
    const send = (command: never) => {
      if (!((command as object) instanceof GetItemCommand)) writes += Number(/^(Put|Update)/.test(nameOf(command)))
      if (writes >= k) return Promise.reject(new Error('died'))
      return client.send(command)
    }
    return { send } as unknown as Client
  }

function nameOf(command: object): string {
  return command.constructor.name
}

describe('who dies between two shards', () => {
  const moments = Array.from({ length: 12 }, (_, k) => k + 1).filter((k) => k % EACH === 1 % EACH)
  test.each(moments)(
    'before write %i, while a pool is made of one, loses none and lets none in above the cap',
    async (k) => {
      const place = openTable(dyingAt(k))
      await oneItem(place, holders(200))
      await place.items.client.send(
        new UpdateItemCommand({
          TableName: 'runs',
          Key: KEY,
          UpdateExpression: 'SET #0 = :0',
          ExpressionAttributeNames: { '#0': 'one_until' },
          ExpressionAttributeValues: { ':0': { N: String(NOW) } },
        }),
      )
      await place.store.takeLease(POOL, 'run_x', until(900_000), 220).catch(() => undefined)
      const held = Object.keys(await place.plain.leases(POOL)).filter((name) => name !== 'run_x')
      expect(held.sort()).toEqual(holders(200))
      const { run_x } = await place.plain.leases(POOL)
      expect(await takeAll(place.plain, holders(40, 3_000), 220)).toBe(run_x === undefined ? 20 : 19)
      // What stood twice is put right by whoever extends.
      await place.plain.extendLeases(POOL, [], until(0))
      expect(sizes(place).reduce((a, b) => a + b)).toBe(220)
    },
  )

  test.each(moments)('before write %i, while the cap is made smaller, loses none either', async (k) => {
    const place = openTable(dyingAt(k))
    await takeAll(place.plain, holders(150), 200)
    await Promise.all(holders(100).map((name) => place.plain.dropLease(POOL, name)))
    await place.store.takeLease(POOL, 'run_x', until(900_000), 60).catch(() => undefined)
    const { run_x, ...held } = await place.plain.leases(POOL)
    expect(Object.keys(held).sort()).toEqual(holders(50, 100))
    expect(await takeAll(place.plain, holders(40, 3_000), 60)).toBe(run_x === undefined ? 10 : 9)
  })
})

test('a holder that two took for at once in two shards has one lease again when it is extended', async () => {
  const place = openTable()
  await takeAll(place.store, holders(100), 100)
  await place.store.dropLease(POOL, holders(1)[0] ?? '')
  const shard = place.items.items().find(({ leases, pk }) => pk?.S?.includes('LEASES#') && leases !== undefined)
  const twice = holders(100).find((name) => !(name in (shard?.leases?.M ?? {})) && name !== holders(1)[0]) ?? ''
  const leases = { M: { ...shard?.leases?.M, [twice]: { S: until(1) } } }
  await place.items.client.send(new PutItemCommand({ TableName: 'runs', Item: { ...shard, leases } }))
  expect(sizes(place).reduce((a, b) => a + b)).toBe(100)
  await place.store.extendLeases(POOL, [twice], until(1_000_000))
  expect(sizes(place).reduce((a, b) => a + b)).toBe(99)
  await place.store.dropLease(POOL, twice)
  expect(twice in (await place.store.leases(POOL))).toBe(false)
})

describe('a lease that was moved is given back', () => {
  test('when a pool of one item became shards', async () => {
    const place = openTable()
    await oneItem(place, holders(90))
    await takeAll(place.store, ['run_a'], 100)
    place.clock.at += 900_000
    expect(await takeAll(place.store, ['run_b'], 100)).toBe(1)
    for (const name of [...holders(90), 'run_a', 'run_b']) await place.store.dropLease(POOL, name)
    expect(await place.store.leases(POOL)).toEqual({})
  })

  test('when the cap was made smaller', async () => {
    const place = openTable()
    expect(await takeAll(place.store, holders(50), 1_000)).toBe(50)
    expect(await takeAll(place.store, ['run_a'], 100)).toBe(1)
    for (const name of [...holders(50), 'run_a']) await place.store.dropLease(POOL, name)
    expect(await place.store.leases(POOL)).toEqual({})
  })

  test('when it is taken again, it is one', async () => {
    const place = openTable()
    expect(await takeAll(place.store, holders(50), 1_000)).toBe(50)
    expect(await takeAll(place.store, ['run_a'], 100)).toBe(1)
    expect(await takeAll(place.store, holders(50), 100)).toBe(50)
    expect(sizes(place).reduce((a, b) => a + b)).toBe(51)
  })

  test.each([1, 2, 3, 4, 5])('when who made the cap smaller died before write %i', async (k) => {
    const place = openTable(dyingAt(k))
    expect(await takeAll(place.plain, holders(50), 1_000)).toBe(50)
    await place.store.takeLease(POOL, 'run_a', until(900_000), 100).catch(() => undefined)
    for (const name of [...holders(50), 'run_a']) await place.plain.dropLease(POOL, name)
    expect(await place.plain.leases(POOL)).toEqual({})
  })
})
