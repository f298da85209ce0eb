import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { allCommitted, openDatabase } from '../../../infra/local/database.ts'
import { openRunStore } from '../../../infra/local/run-store/run-store.ts'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'
import { type RunStore, shownApprovalStatus } from '../../../shared/runs/run-store.ts'
import { at, ending, keyOf, newRun, pending, question, step, time } from '../../conformance/run-store-fixture.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-older-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The columns `runs` had in schema 1. */
const FIRST =
  'run tenant run_id dag_name created_at state seq running running_count deadline_at check_at stopped'.split(' ')
const LATER_TABLES = [
  'leases',
  'queued_runs',
  'key_queues',
  'start_holds',
  'request_counts',
  'lineages',
  'goal_attempts',
  'stops',
]

/** Makes the file one of schema 1: with the tables and columns of then, and the runs in it. */
function makeOlder(): void {
  const db = new DatabaseSync(join(folder, 'sluice.db'))
  for (const table of LATER_TABLES) db.exec(`DROP TABLE ${table}`)
  for (const index of ['approvals_asked', 'approvals_closed']) db.exec(`DROP INDEX ${index}`)
  db.exec('ALTER TABLE approvals DROP COLUMN closed_at')
  for (const column of columns(db)) if (!FIRST.includes(column)) db.exec(`ALTER TABLE runs DROP COLUMN ${column}`)
  expect(columns(db)).toEqual(FIRST)
  db.exec('PRAGMA user_version = 1')
  db.close()
}

function columns(db: DatabaseSync): readonly string[] {
  return db
    .prepare("SELECT name FROM pragma_table_info('runs')")
    .all()
    .map(({ name }) => String(name))
}

async function within<T>(work: (store: RunStore) => Promise<T>): Promise<T> {
  const db = openDatabase(folder)
  try {
    const done = await work(openRunStore(db))
    await allCommitted(db)
    return done
  } finally {
    db.close()
  }
}

const living = keyOf(newRun(1).meta)
const ended = keyOf(newRun(2).meta)

async function runsOfThen(store: RunStore): Promise<void> {
  await store.create(newRun(1))
  await store.create(newRun(2))
  for (let i = 1; i <= 19; i += 1) await store.append(step(living, String(i), at(1, 10)))
  await store.append(ending(ended))
}

test('a folder of an earlier version opens: its runs are as they were, without a cap or a place in a queue', async () => {
  const read = async (store: RunStore) => [
    await store.head(living),
    await store.head(ended),
    await store.events(living, 0, 99),
  ]
  const before = await within(async (store) => {
    await runsOfThen(store)
    return read(store)
  })
  makeOlder()
  expect(await within(read)).toEqual(
    before.map((one) => (Array.isArray(one) ? one : { ...one, stored_bytes: undefined })),
  )
  expect(before[0]).toMatchObject({ seq: 20, budget: { committed_tokens: 0, spent_usd_micros: 0 } })
})

test('its runs go on with everything there is by now, and their chains are closed over all their events', async () => {
  await within(runsOfThen)
  makeOlder()
  await within(async (store) => {
    const seal = async (run: typeof living) => {
      const sealed = await store.sealed(run)
      expect(sealed?.hash).toBe(hashAfter(await store.events(run, 0, sealed?.seq ?? 0)))
      return sealed?.seq
    }
    expect([await seal(living), await seal(ended)]).toEqual([0, 2])
    const reserve = { tokens: 5, usd_micros: 0 }
    for (let i = 1; i <= 4; i += 1) await store.append(step(living, `2${i}`, at(1, 20), { reserve }))
    // What it stored before nobody counted.
    await store.append(step(living, '25', at(1, 20), { stored_bytes: 700 }))
    expect(await store.head(living)).not.toHaveProperty('stored_bytes')
    expect(await seal(living)).toBe(24)
    expect((await store.head(living))?.budget.committed_tokens).toBe(20)
    await store.putStop(living, 3)
    expect(await store.stopped(living, 3)).toBe(true)
    expect(await store.takeLease({ tenant: 'main', name: 'runs' }, 'a', time(1), 1)).toBe(true)
    expect(await store.releaseQueued(living, { at: time(1), deadline_at: time(2), check_at: time(2) })).toBe(false)
  })
  expect(await within((store) => store.sealed(ended))).toMatchObject({ seq: 2 })
})

test('whether what was spent before had a price nobody knows; of a run that had spent nothing it is known', async () => {
  const settle = { reserved: { tokens: 0, usd_micros: 0 }, spent: { tokens: 5, usd_micros: 1 } }
  await within(async (store) => {
    await runsOfThen(store)
    await store.append(step(living, '1', at(2, 20), { settle }))
  })
  const db = new DatabaseSync(join(folder, 'sluice.db'))
  db.exec('ALTER TABLE runs DROP COLUMN unpriced_tokens')
  db.close()
  await within(async (store) => {
    await store.append(step(living, '2', at(2, 20), { settle }))
    const old = (await store.head(living))?.budget
    expect(old).toMatchObject({ spent_tokens: 10 })
    expect(old).not.toHaveProperty('unpriced_tokens')
    expect((await store.head(ended))?.budget.unpriced_tokens).toBe(0)
  })
})

test('once opened it is of this version: an older program refuses it rather than forget budgets', async () => {
  await within(runsOfThen)
  makeOlder()
  await within(async () => {})
  const db = openDatabase(folder)
  expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: 7 })
  db.close()
})

test('what people were asked then is in the inbox, decided or not', async () => {
  await within(async (store) => {
    await runsOfThen(store)
    for (const [i, id] of ['open', 'decided'].entries()) {
      await store.putApproval(living, question(id, i), 'token')
      await store.append(step(living, `a${i}`, 10, { approval: { id, was: null, set: pending(i) } }))
    }
    const set = { ...pending(1), status: 'approved', decided_at: time(70) } as const
    await store.append(step(living, 'a1', 90, { approval: { id: 'decided', was: 'pending', set }, at: time(70) }))
    await store.create(newRun(3))
    const third = keyOf(newRun(3).meta)
    await store.putApproval(third, question('left', 0), 'token')
    await store.append(step(third, 'a0', 10, { approval: { id: 'left', was: null, set: pending(0) } }))
    await store.append(ending(third, { at: time(90) }))
  })
  makeOlder()
  await within(async (store) => {
    const read = async (closed: boolean) =>
      (await store.inbox('main', { closed, limit: 9 })).asked.map(({ item, head, at: when }) => [
        item.id,
        shownApprovalStatus(head, item.id),
        when,
      ])
    expect(await read(false)).toEqual([['open', 'pending', time(10)]])
    expect(await read(true)).toEqual([
      ['left', 'cancelled', time(90)],
      ['decided', 'approved', time(70)],
    ])
  })
})

test('a file of before the first version is refused with what to do, and left as it was', async () => {
  await within(async () => undefined)
  const db = new DatabaseSync(join(folder, 'sluice.db'))
  db.exec('DROP TABLE lanes; CREATE TABLE lanes (run INTEGER, lane TEXT, ordinal INTEGER, PRIMARY KEY (run, lane))')
  db.close()
  await expect(within(async () => undefined)).rejects.toMatchObject({ code: 'database_older' })
})
