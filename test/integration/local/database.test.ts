import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSqliteJournal } from '../../../infra/local/asl/sqlite-journal.ts'
import {
  allCommitted,
  commitsDone,
  commitTogether,
  onTransactions,
  openDatabase,
  transaction,
  truncateWhenIdle,
} from '../../../infra/local/database.ts'
import { openRunStore } from '../../../infra/local/run-store/run-store.ts'
import { Fault } from '../../../shared/errors.ts'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'
import { ending, keyOf, newRun, pending, question, step } from '../../conformance/run-store-fixture.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-database-'))
  file = join(folder, 'sluice.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function counting(): { readonly db: DatabaseSync; readonly add: (n: number) => void; readonly all: () => number[] } {
  const db = openDatabase(folder)
  db.exec('CREATE TABLE numbers (n INTEGER PRIMARY KEY)')
  const insert = db.prepare('INSERT INTO numbers VALUES (?)')
  return {
    db,
    add: (n) => void insert.run(n),
    all: () =>
      db
        .prepare('SELECT n FROM numbers ORDER BY n')
        .all()
        .map(({ n }) => Number(n)),
  }
}

test('openDatabase() makes folder and file, and opens them again', () => {
  const deep = join(folder, 'a', 'b')
  openDatabase(deep).close()
  const db = openDatabase(deep)
  expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  expect(db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 1 })
  db.close()
})

test('a place whose durability is full has every commit wait for the disk', () => {
  const db = openDatabase(join(folder, 'a'), 'full')
  expect(db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 })
  db.close()
})

test('openDatabase() refuses a file of another program and leaves it as it was', () => {
  const foreign = new DatabaseSync(file)
  foreign.exec('CREATE TABLE theirs (x)')
  foreign.close()
  const before = readFileSync(file)
  expect(() => openDatabase(folder)).toThrow(
    expect.objectContaining({ name: 'InvalidInput', code: 'not_our_database' }),
  )
  expect(readFileSync(file).equals(before)).toBe(true)
})

test('openDatabase() refuses a file that is no database', () => {
  writeFileSync(file, 'dear diary, '.repeat(200))
  expect(() => openDatabase(folder)).toThrow(
    expect.objectContaining({ name: 'InvalidInput', code: 'not_our_database' }),
  )
})

test('openDatabase() refuses a file of a newer version, naming both', () => {
  const db = openDatabase(folder)
  db.exec('PRAGMA user_version = 99')
  db.close()
  expect(() => openDatabase(folder)).toThrow(/schema 99, this version of Sluice knows up to 7/)
})

test('openDatabase() names a damaged file', () => {
  const db = openDatabase(folder)
  openRunStore(db)
  db.close()
  const bytes = readFileSync(file)
  bytes.fill(0xff, 100, 4_096)
  writeFileSync(file, bytes)
  expect(() => openDatabase(folder)).toThrow(expect.objectContaining({ name: 'Bug', code: 'database_corrupt' }))
})

test('openDatabase() says so when the folder cannot be made', () => {
  writeFileSync(join(folder, 'taken'), '')
  expect(() => openDatabase(join(folder, 'taken'))).toThrow(expect.objectContaining({ name: 'Unavailable' }))
})

test('transaction() keeps all or nothing, and joins the one around it', () => {
  const { db, add, all } = counting()
  transaction(db, () => add(1))
  const failing = () =>
    transaction(db, () => {
      add(2)
      transaction(db, () => add(3))
      throw new Fault('Conflict', 'no', 'no')
    })
  expect(failing).toThrow(expect.objectContaining({ code: 'no' }))
  expect(all()).toEqual([1])
  expect(() => transaction(db, () => add(1))).toThrow(expect.objectContaining({ name: 'Bug', code: 'store_error' }))
  expect(db.isTransaction).toBe(false)
  db.close()
})

test('commitTogether() answers after the commit, in order, and one failure spoils no neighbour', async () => {
  const { db, add, all } = counting()
  const seen: string[] = []
  const works = [1, 2, 2, 3].map((n, i) =>
    commitTogether(db, () => {
      add(n)
      return n
    }).then(
      () => void seen.push(`${i} written${db.isTransaction ? ' too early' : ''}`),
      (fault) => void seen.push(`${i} ${fault.code}`),
    ),
  )
  expect(all()).toEqual([])
  await Promise.all(works)
  expect(seen).toEqual(['0 written', '1 written', '2 store_error', '3 written'])
  expect(all()).toEqual([1, 2, 3])
  db.close()
})

test('commitTogether() shares one commit among the works of one turn', async () => {
  const { db, add } = counting()
  const written = () => statSync(`${file}-wal`).size
  const before = written()
  await commitTogether(db, () => add(1))
  const alone = written() - before
  await Promise.all([2, 3, 4].map((n) => commitTogether(db, () => add(n))))
  expect(written() - before).toBe(2 * alone)
  db.close()
})

test('what a machine notes goes with the commit of the same turn, whoever was first, and alone where there is none or it fails', async () => {
  const { db, add, all } = counting()
  const journal = createSqliteJournal(db)
  let commits = 0
  onTransactions(db, {
    afterCommit() {
      commits += 1
    },
  })
  const note = async (name: string) => {
    journal.create({ machine: 'm', name, input: {}, started_at: 0, events: 1 })
    await journal.durable()
  }
  await Promise.all([note('before'), commitTogether(db, () => add(1))])
  await Promise.all([commitTogether(db, () => add(2)), note('after')])
  expect(commits).toBe(2)
  await note('alone')
  const refused = commitTogether(db, () => add(1))
  await Promise.all([note('beside a refused one'), expect(refused).rejects.toThrow('UNIQUE')])
  expect([commits, all(), journal.unfinished().map(({ name }) => name)]).toEqual([
    4,
    [1, 2],
    ['before', 'after', 'alone', 'beside a refused one'],
  ])
  db.close()
})

test('requests are counted without a commit of their own, and the next commit has them: a start later they are known', async () => {
  const { db, add } = counting()
  let commits = 0
  onTransactions(db, {
    afterCommit() {
      commits += 1
    },
  })
  const countOn = (on: DatabaseSync) => {
    const store = openRunStore(on)
    return () => store.countRequest('main', 'user:ana', '12:00', 3)
  }
  const [one, other] = [countOn(db), countOn(db)]
  commits = 0
  expect([await one(), await other(), commits]).toEqual([true, true, 0])
  await expect(commitTogether(db, () => add('no number' as never))).rejects.toThrow()
  await commitTogether(db, () => add(1))
  db.close()
  const again = openDatabase(folder)
  const count = countOn(again)
  expect([await count(), await count()]).toEqual([true, false])
  again.close()
})

test('the WAL of a database that nobody writes to is emptied; that of a busy one is left alone, and has 5 MB at most', () => {
  const { db, add, all } = counting()
  const text = db.prepare('CREATE TABLE texts (body TEXT)')
  text.run()
  const insert = db.prepare('INSERT INTO texts VALUES (?)')
  const size = () => statSync(`${file}-wal`).size
  const look = truncateWhenIdle(db)
  for (let n = 0; n < 2_000; n += 1) transaction(db, () => [add(n), insert.run('x'.repeat(20_000))])
  const most = size()
  expect(most).toBeLessThan(5_000_000)
  look()
  expect(size()).toBe(most)
  transaction(db, () => add(2_000))
  look()
  expect(size()).toBeGreaterThan(0)
  look()
  expect(size()).toBe(0)
  transaction(db, () => add(2_001))
  look()
  look()
  expect([size(), all().length]).toEqual([0, 2_002])
  // Behind a transaction that is open, and one that failed, nothing happens to what is kept.
  transaction(db, look)
  expect(() => transaction(db, () => db.exec('no SQL'))).toThrow(Fault)
  look()
  look()
  expect(all()).toHaveLength(2_002)
  db.close()
})

test("the file is held by one process while it is open, and is anybody's to read afterwards", () => {
  const db = openDatabase(folder)
  openRunStore(db)
  const reading = () => {
    const reader = new DatabaseSync(file, { readOnly: true, timeout: 0 })
    try {
      return reader.prepare('SELECT count(*) AS n FROM dag_runs').get()
    } finally {
      reader.close()
    }
  }
  expect(reading).toThrow(/locked/)
  db.close()
  expect(reading()).toEqual({ n: 0 })
})

test('the file has the read-only views dag_runs, dag_events and dag_approvals, without any token', async () => {
  const db = openDatabase(folder)
  const store = openRunStore(db)
  await store.create(newRun(1))
  await store.create(newRun(2))
  const run = keyOf(newRun(2).meta)
  await store.putApproval(run, question('apr_1', 0), 'secret-token')
  await store.append(step(run, 'a0', 10, { approval: { id: 'apr_1', was: null, set: pending(0) } }))
  expect(() => db.exec("UPDATE dag_runs SET state = 'completed'")).toThrow(/view/)
  db.close()
  const reader = new DatabaseSync(file, { readOnly: true })
  const rows = (sql: string) => reader.prepare(sql).all()
  expect(rows('SELECT run_id, state, last_seq, dag_name FROM dag_runs ORDER BY run_id')).toMatchObject([
    { run_id: newRun(1).meta.run_id, state: 'running', last_seq: 1, dag_name: 'brief' },
    { run_id: run.run_id, state: 'running', last_seq: 2 },
  ])
  expect(rows(`SELECT seq, id, type, block_id, attempt FROM dag_events WHERE run_id = '${run.run_id}'`)).toMatchObject([
    { seq: 1, id: 'run/10/0', type: 'run:started', block_id: null },
    { seq: 2, id: 'a0/10/0', type: 'block:ready', block_id: 'ba0', attempt: null },
  ])
  expect(rows('SELECT * FROM dag_approvals')).toMatchObject([
    { run_id: run.run_id, approval_id: 'apr_1', status: 'pending', prompt: 'Deploy this build?', decided_by: null },
  ])
  const views = ['dag_runs', 'dag_events', 'dag_approvals'].map((view) => JSON.stringify(rows(`SELECT * FROM ${view}`)))
  expect(views.join()).not.toContain('secret-token')
  reader.close()
})

test('the end of a run closes its hash chain there and then: an event that is edited afterwards shows', async () => {
  const db = openDatabase(folder)
  const store = openRunStore(db)
  await store.create(newRun(1))
  const run = keyOf(newRun(1).meta)
  await store.append(ending(run))
  await allCommitted(db)
  db.exec("UPDATE events SET body = replace(body, 'a person stopped it', 'it stopped itself')")
  const events = await store.events(run, 0, 9)
  expect(JSON.stringify(events)).toContain('it stopped itself')
  const sealed = await store.sealed(run)
  expect(sealed?.seq).toBe(2)
  expect(sealed?.hash).not.toBe(hashAfter(events))
  db.close()
})

test('what a commit could not write is believed by nobody: HEAD, joins and context are what the file has', async () => {
  const db = openDatabase(folder)
  const store = openRunStore(db)
  await store.create(newRun(1))
  const run = keyOf(newRun(1).meta)
  await store.append(step(run, '1', 10, { start: { block: 1, limit: 0 } }))
  await store.waitJoin(run, '4', { need: 2, token: 't1' })
  const before = [await store.head(run), await store.context(run)]
  db.exec("CREATE TRIGGER broken BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END")
  const failed = await Promise.allSettled([
    store.append(step(run, '2', 10, { start: { block: 2, limit: 0 } })),
    store.append(step(run, '3', 10, { end: { block: 1 } })),
  ])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect([await store.head(run), await store.context(run)]).toEqual(before)
  db.exec('DROP TRIGGER broken')
  expect(await store.append(step(run, '2', 10, { start: { block: 2, limit: 2 } }))).toEqual({ ok: true, seq: 3 })
  expect((await store.head(run))?.running).toEqual(['1', '2'])
  await store.signalJoin(run, '4', 'a')
  const after = [await store.head(run), await store.events(run, 0, 9), await store.sealed(run)]
  await commitsDone(db)
  db.close()
  // And the file has all of that.
  const again = openDatabase(folder)
  const reopened = openRunStore(again)
  expect([await reopened.head(run), await reopened.events(run, 0, 9), await reopened.sealed(run)]).toEqual(after)
  expect(await reopened.signalJoin(run, '4', 'b')).toEqual({ done: 2, need: 2, tokens: ['t1'] })
  again.close()
})
