import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import { openDatabase } from '../../../infra/local/database.ts'
import { openRunStore } from '../../../infra/local/run-store/run-store.ts'
import { ordinal } from '../../../shared/runs/lane.ts'
import type { Append, LaneGuard, RunStore } from '../../../shared/runs/run-store.ts'
import { at, keyOf, newRun, ready, step, time } from '../../conformance/run-store-fixture.ts'
import { createItemStore } from '../../faults/item-store/create-item-store.ts'
import { atMost } from '../../how-much.ts'

/** Lanes that have left HEAD in groups: nobody who reads or appends can tell. */
const run = keyOf(newRun(1).meta)

function openTable() {
  const table = createItemStore()
  const clock = { now: () => Date.parse(time(1_000)), delay: async () => {} }
  const ids = { random: (bytes: number) => randomBytes(bytes) }
  return { table, store: runStoreOn({ client: table.client, table: 'runs', clock, ids }) }
}

const headOf = ({ table }: ReturnType<typeof openTable>) => table.item(`T#${run.tenant}#R#${run.run_id}`, 'HEAD') ?? {}

async function complete(store: RunStore, blocks: number): Promise<void> {
  for (let block = 0; block < blocks; block += 1) {
    await store.append(step(run, `${block}`, at(1, 10)))
    await store.append(step(run, `${block}`, at(1, 90)))
  }
}

test('a chain of blocks that complete leaves HEAD as small as it began', async () => {
  const opened = openTable()
  await opened.store.create(newRun(1))
  await complete(opened.store, 200)
  const { lanes, packed } = headOf(opened)
  expect(Object.keys(lanes?.M ?? {}).length).toBeLessThan(20)
  expect(packed?.NS?.length).toBeGreaterThan(20)
  const head = await opened.store.head(run)
  expect(Object.keys(head?.lanes ?? {})).toHaveLength(201)
  expect(await opened.store.head(run, ['0', '7', '199', '250'])).toMatchObject({
    lanes: { 0: at(1, 90), 7: at(1, 90), 199: at(1, 90) },
  })
})

const LANES = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a3', '9.1']
const PLACES = [at(1, 10), at(1, 90), at(1, 91), at(2, 90), ordinal({ epoch: 1, attempt: 1, phase: 10 })]

const guards: fc.Arbitrary<LaneGuard> = fc.oneof(
  fc.constantFrom(null, ...PLACES).map((is) => ({ is })),
  fc.constantFrom(...PLACES, at(1, 91)).map((below) => ({ below })),
)

interface Asked extends Pick<Append, 'lane' | 'guard' | 'ordinal'> {
  readonly while: Append['while']
}

/** An append whose guard can be: ordinals only rise. */
const asked: fc.Arbitrary<Asked> = fc
  .record({
    lane: fc.constantFrom(...LANES.slice(0, 10), 'a3'),
    ordinal: fc.constantFrom(...PLACES),
    guard: guards,
    while: fc.array(fc.record({ lane: fc.constantFrom(...LANES.slice(0, 10)), is: fc.constantFrom(null, ...PLACES) }), {
      maxLength: 1,
    }),
  })
  .filter(({ guard, ordinal: to }) => ('below' in guard ? guard.below <= to : (guard.is ?? -1) < to))

test('whatever is asked of lanes, of which some have left HEAD, SQLite answers the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 30 }), fc.nat(10), async (appends, done) => {
      const opened = openTable()
      const db = openDatabase(':memory:')
      const stores = [opened.store, openRunStore(db)]
      try {
        for (const store of stores) {
          await store.create(newRun(1))
          await complete(store, done)
        }
        for (const append of appends) {
          const more = append.while?.length === 0 ? {} : { while: append.while ?? [] }
          const one = step(run, append.lane, append.ordinal, { guard: append.guard, ...more })
          const [mine, theirs] = await Promise.all(stores.map((store) => store.append(one)))
          expect(mine).toEqual(theirs)
        }
        const [mine, theirs] = await Promise.all(stores.map((store) => store.head(run)))
        expect(mine?.lanes).toEqual(theirs?.lanes)
        const named = await opened.store.head(run, LANES)
        expect(named?.lanes).toEqual(mine?.lanes && pick(mine.lanes))
      } finally {
        db.close()
      }
    }),
    { numRuns: atMost(400, 60) },
  )
})

function pick(lanes: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(lanes).filter(([lane]) => LANES.includes(lane)))
}

test('a block that is sent back while a trim is on its way is not packed at its old place', async () => {
  const opened = openTable()
  await opened.store.create(newRun(1))
  // Eight lanes at their end, and a tail of seven: the next append's writer packs them.
  for (let block = 0; block < 8; block += 1) await opened.store.append(step(run, `${block}`, at(1, 90)))
  const again = ordinal({ epoch: 1, attempt: 1, phase: 10 })
  await Promise.all([
    opened.store.append(step(run, 'a1', at(1, 10), { events: Array.from({ length: 20 }, () => ready('b')) })),
    opened.store.append(step(run, '3', again)),
  ])
  expect((await opened.store.head(run))?.lanes).toMatchObject({ 2: at(1, 90), 3: again })
})
