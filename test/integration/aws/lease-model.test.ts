import { randomBytes } from 'node:crypto'
import { type DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { createItemStore } from '../../faults/item-store/create-item-store.ts'

/** Leases in shards (docs/adr/0086) against the set they stand for, while the cap is another now and then. */
const POOL = { tenant: 'main', name: 'runs' }
const NOW = Date.parse('2026-01-01T00:00:00.000Z')
const until = (ms: number) => new Date(NOW + ms).toISOString()

type Client = Pick<DynamoDBClient, 'send'>
type Step = { readonly kind: 'take' | 'drop' | 'cap' | 'later' | 'extend'; readonly of: number }

const some = (kind: Step['kind'], weight: number, of: fc.Arbitrary<number>) => ({
  weight,
  arbitrary: of.map((n): Step => ({ kind, of: n })),
})
const steps = fc.array(
  fc.oneof(
    some('take', 6, fc.nat({ max: 30 })),
    some('drop', 4, fc.nat({ max: 30 })),
    some('cap', 1, fc.constantFrom(2, 4, 5, 9, 16, 30)),
    some('later', 1, fc.constantFrom(20_000, 70_000, 950_000)),
    some('extend', 1, fc.constant(0)),
  ),
  { maxLength: 60 },
)

/** `held`: has a lease for sure; `maybe`: whoever took or gave back for it died. `every`: so many writes live to be made. */
function openPool(every = Number.POSITIVE_INFINITY) {
  const { client, items } = createItemStore()
  const clock = { at: NOW, now: () => clock.at, delay: async () => undefined }
  const ids = { random: (n: number) => randomBytes(n) }
  const on = (through: Client) => runStoreOn({ client: through, table: 'runs', clock, ids, leases_an_item: 4 })
  let writes = 0
  const send = (command: never) => {
    const isWrite = (command as object) instanceof UpdateItemCommand || (command as object) instanceof PutItemCommand
    if (isWrite) writes += 1
    return writes < every ? client.send(command) : Promise.reject(new Error('died'))
  }
  const pool = {
    cap: 9,
    lives: every === Number.POSITIVE_INFINITY,
    clock,
    held: new Set<string>(),
    maybe: new Set<string>(),
    store: on(client),
    /** undefined: it died. */
    async tried<T>(make: (store: RunStore) => Promise<T>): Promise<{ readonly done: T } | undefined> {
      if (writes >= every) writes = 0
      return await make(on({ send } as unknown as Client)).then(
        (done) => ({ done }),
        () => undefined,
      )
    },
    stand: () => items().reduce((sum, { leases }) => sum + Object.keys(leases?.M ?? {}).length, 0),
  }
  return pool
}

type Pool = ReturnType<typeof openPool>

const STEPS: Readonly<Record<Step['kind'], (pool: Pool, of: number) => Promise<void> | void>> = {
  async take(pool, of) {
    const { held, maybe, cap, clock } = pool
    const name = `run_${of}`
    const fits = held.has(name) || held.size < cap
    const taken = await pool.tried((store) => store.takeLease(POOL, name, until(clock.at), cap))
    if (taken === undefined) return void (held.has(name) || maybe.add(name))
    // A lease that stands twice, since somebody died, counts twice.
    if (pool.lives) expect(taken.done).toBe(fits)
    if (taken.done) held.add(name)
    maybe.delete(name)
  },
  async drop(pool, of) {
    const name = `run_${of}`
    pool.held.delete(name)
    pool.maybe.add(name)
    const dropped = await pool.tried((store) => store.dropLease(POOL, name))
    if (dropped !== undefined) pool.maybe.delete(name)
  },
  async extend(pool) {
    await pool.tried((store) => store.extendLeases(POOL, [...pool.held], until(pool.clock.at + 1_000)))
  },
  cap(pool, of) {
    pool.cap = of
  },
  later({ clock }, of) {
    clock.at += of
  },
}

test('one after the other: who is in is who took and did not give back, and never more than the cap get in', async () => {
  const told = fc.asyncProperty(steps, async (all) => {
    const pool = openPool()
    for (const { kind, of } of all) {
      await STEPS[kind](pool, of)
      expect(Object.keys(await pool.store.leases(POOL)).toSorted()).toEqual([...pool.held].toSorted())
      expect(pool.stand()).toBe(pool.held.size)
    }
  })
  await fc.assert(told, { numRuns: 300 })
})

test('whoever dies at whichever write: nobody loses a lease, and all that are given back are gone', async () => {
  const told = fc.asyncProperty(steps, fc.integer({ min: 2, max: 12 }), async (all, every) => {
    const pool = openPool(every)
    const { store, held, maybe } = pool
    for (const { kind, of } of all) {
      await STEPS[kind](pool, of)
      const there = new Set(Object.keys(await store.leases(POOL)))
      expect([...held].filter((name) => !there.has(name))).toEqual([])
      expect([...there].filter((name) => !held.has(name) && !maybe.has(name))).toEqual([])
    }
    for (const name of [...held, ...maybe]) await store.dropLease(POOL, name)
    expect(await store.leases(POOL)).toEqual({})
  })
  await fc.assert(told, { numRuns: 300 })
})
