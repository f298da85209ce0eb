import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSqliteJournal } from '../../../infra/local/asl/sqlite-journal.ts'
import { openDatabase } from '../../../infra/local/database.ts'
import { openObjects } from '../../../infra/local/folder-objects.ts'
import { openGraphStore } from '../../../infra/local/graph-store/graph-store.ts'
import { openRunStore } from '../../../infra/local/run-store/run-store.ts'
import { openStoredObjects } from '../../../infra/local/stored-objects.ts'
import { createRetention } from '../../../infra/local/sweep.ts'
import { openTriggers } from '../../../infra/local/triggers.ts'
import type { GraphStore } from '../../../shared/graph/graph-store.ts'
import type { Triple } from '../../../shared/graph/triple.ts'
import { type ObjectStore, objectKey } from '../../../shared/ports/objects.ts'
import { loopEntityId } from '../../../shared/research/loop-entity.ts'
import type { Meta, NewRun, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { idOf, place } from '../../conformance/graph-fixture.ts'
import { at, ending, keyOf, newRun, pending, question, step, time } from '../../conformance/run-store-fixture.ts'
import { cachedResult } from '../../conformance/run-store-model.ts'

let folder: string
let db: DatabaseSync
let store: RunStore
let graph: GraphStore
let objects: ObjectStore
const removed: unknown[] = []
beforeEach(() => {
  removed.length = 0
  folder = mkdtempSync(join(tmpdir(), 'sluice-retention-'))
  db = openDatabase(folder)
  store = openRunStore(db)
  createSqliteJournal(db)
  openTriggers(db)
  graph = openGraphStore(db, { now: () => later(0) })
  objects = openStoredObjects(db, openObjects(join(folder, 'objects')))
})
afterEach(() => {
  db.close()
  rmSync(folder, { recursive: true, force: true })
})

const DAY_MS = 86_400_000
const KEPT_DAYS = 10
/** The fixture's runs begin and end on the first day. */
const later = (days: number) => Date.parse(time(0)) + days * DAY_MS

async function retain(now: number): Promise<void> {
  const log = { info: (_: string, facts?: object) => void removed.push(facts) }
  await createRetention({ db, folder: join(folder, 'objects'), retention_days: KEPT_DAYS, log })(now)
}

async function begun(n: number, over: Partial<Meta> = {}, of: Partial<NewRun> = {}): Promise<RunKey> {
  const run = newRun(n, over)
  await store.create({ ...run, ...of })
  return keyOf(run.meta)
}

/** Ended, and nothing owed: what the last look of the sweep leaves. */
async function ended(n: number, over: Partial<Meta> = {}): Promise<RunKey> {
  const run = await begun(n, over)
  await finish(run)
  return run
}

async function finish(run: RunKey, ended_at = time(9)): Promise<void> {
  await store.append(ending(run, { at: ended_at }))
  await store.settleOutbox(run, ['start'])
  await store.moveCheck(run, newRun(1).check_at, undefined)
}

const isThere = async (run: RunKey) => (await store.head(run)) !== undefined

/** How many rows each table has. */
function rows(): Readonly<Record<string, number>> {
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all()
  const counts = tables.map(({ name }) => [name, Number(db.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.n)])
  return Object.fromEntries(counts)
}

test('an ended run is there until its days are over, then nothing of it is, in any table', async () => {
  const before = rows()
  const run = await begun(1, {}, { parent_token: 'parent' })
  await store.append(step(run, '0', at(1, 10), { start: { block: 0, limit: 0 }, open_items: { block: 0 } }))
  await store.append(step(run, 'a1', 10, { approval: { id: 'p', was: null, set: pending(1) } }))
  await store.putApproval(run, question('p', 1), 'token')
  await store.putProjection(run, { block: 0, ordinal: at(1, 10), state: 'running', attempt: 1 })
  await store.waitJoin(run, '1', { need: 2, token: 't' })
  await store.signalJoin(run, '1', '0')
  await store.putArtifact(run, {
    name: 'a.md',
    ref: 'r',
    sha256: 'a'.repeat(64),
    bytes: 1,
    media_type: 'text/plain',
    block_id: 'b',
    attempt: 1,
  })
  await store.putStop(run, 0)
  await finish(run)
  await retain(later(KEPT_DAYS - 1))
  expect(await isThere(run)).toBe(true)
  await retain(later(KEPT_DAYS + 1))
  expect(await isThere(run)).toBe(false)
  expect(await store.events(run, 0, 9)).toEqual([])
  expect(rows()).toEqual({ ...before, cursor_keys: 1 })
  expect(removed).toEqual([{ runs: 1, objects: 0, retention_days: KEPT_DAYS }])
})

test('what lives stays however old it is, what owes something too, and a child as long as its parent', async () => {
  const living = await begun(1)
  const owing = await begun(2)
  await store.append(ending(owing))
  const parent = { run_id: living.run_id, block_id: 'b', epoch: 0, attempt: 1 }
  const child = await ended(3, { parent })
  await retain(later(1_000))
  expect(await Promise.all([living, owing, child].map(isThere))).toEqual([true, true, true])
  await finish(living)
  for (let i = 0; i < 2; i += 1) await retain(later(1_000))
  expect(await Promise.all([living, owing, child].map(isThere))).toEqual([false, true, false])
})

test('a run that began long ago and ended now is kept from its end on', async () => {
  const run = await begun(1)
  await finish(run, new Date(later(50)).toISOString())
  await retain(later(50 + KEPT_DAYS - 1))
  expect(await isThere(run)).toBe(true)
  await retain(later(50 + KEPT_DAYS + 1))
  expect(await isThere(run)).toBe(false)
})

test('many are removed, the others untouched; the numbers they leave are nobody else’s', async () => {
  const old = await Promise.all(Array.from({ length: 50 }, (_, i) => ended(i + 1)))
  const young = await begun(99, { created_at: new Date(later(20)).toISOString() })
  await store.append(step(young, '0', at(1, 10)))
  const kept = await store.events(young, 0, 9)
  await retain(later(21))
  expect((await Promise.all(old.map(isThere))).some(Boolean)).toBe(false)
  expect(await store.events(young, 0, 9)).toEqual(kept)
  await store.append(ending(young))
  const next = await Promise.all([100, 101, 102].map((n) => begun(n)))
  expect((await Promise.all([...old, ...next].map(isThere))).filter(Boolean)).toHaveLength(3)
  expect(await store.create(newRun(1))).toMatchObject({ created: true })
})

test('a run that is removed while it was known does not lend its number to the next', async () => {
  const run = await ended(1)
  expect(await isThere(run)).toBe(true)
  await retain(later(KEPT_DAYS + 1))
  const next = await begun(2)
  expect(await isThere(run)).toBe(false)
  expect(await isThere(next)).toBe(true)
  expect(await store.append(step(run, '0', at(1, 10)))).toEqual({ ok: false, because: 'unknown_run' })
})

test('kept results, links and ended executions go with their time', async () => {
  const run = await ended(1)
  const young = { run_id: 'run_young', from: run.run_id, kind: 'retry', at: new Date(later(9)).toISOString() } as const
  await store.putCached('main', 'h', 'in', cachedResult(1))
  await store.linkRun('main', 'run_0', { run_id: run.run_id, from: 'run_0', kind: 'retry', at: time(1) })
  await store.linkRun('main', 'run_0', young)
  const insert = db.prepare(
    "INSERT INTO machine_executions (machine, name, input, started_at, events, end) VALUES ('m', ?, ?, ?, 1, ?)",
  )
  const living = await begun(2)
  for (const [{ run_id }, end] of [
    [run, '{}'],
    [living, '{}'],
    [{ run_id: 'unfinished' }, null],
  ] as const) {
    insert.run(run_id, JSON.stringify({ v: 1, tenant: 'main', run_id }), later(0), end)
  }
  await retain(later(KEPT_DAYS + 1))
  expect(await store.cached('main', 'h', 'in')).toBeUndefined()
  expect(await store.lineage('main', 'run_0')).toEqual([young])
  const left = db.prepare('SELECT name FROM machine_executions ORDER BY id').all()
  expect(left.map(({ name }) => name)).toEqual([living.run_id, 'unfinished'])
})

test('attempts stay as long as a run of their lineage does', async () => {
  const root = await ended(1)
  const attempt = {
    at: time(1),
    status: 'PARTIAL',
    fingerprint: 'f',
    unmet: ['AC1'],
    metCount: 0,
    totalCount: 1,
  } as const
  await store.putGoalAttempt('main', root.run_id, 1, { ...attempt, run_id: root.run_id })
  const next = await begun(2, { root: root.run_id })
  await store.linkRun('main', root.run_id, { run_id: next.run_id, from: root.run_id, kind: 'pivot', at: time(2) })
  await retain(later(KEPT_DAYS + 1))
  expect(await isThere(root)).toBe(false)
  expect(await store.goalAttempts('main', root.run_id)).toHaveLength(1)
  await finish(next)
  for (let i = 0; i < 2; i += 1) await retain(later(KEPT_DAYS + 1))
  expect(await store.goalAttempts('main', root.run_id)).toEqual([])
})

/** An object that was last written on that day. */
async function objectOf(text: string, day: number): Promise<string> {
  const { sha256 } = await openObjects(join(folder, 'objects')).put('main', Buffer.from(text))
  const path = join(folder, 'objects', objectKey('main', sha256))
  utimesSync(path, new Date(later(day)), new Date(later(day)))
  return path
}

test('objects go 30 days after that, from their last write, and leftovers of a write that broke off', async () => {
  const [old, young] = [await objectOf('old', 0), await objectOf('young', 2)]
  const broken = `${old}.1234.tmp`
  writeFileSync(broken, 'x')
  utimesSync(broken, new Date(later(0)), new Date(later(0)))
  await retain(later(KEPT_DAYS + 29))
  expect([old, young, broken].map(existsSync)).toEqual([true, true, true])
  await retain(later(KEPT_DAYS + 31))
  expect([old, young, broken].map(existsSync)).toEqual([false, true, false])
})

test('an object that is written again lives on', async () => {
  const path = await objectOf('again', 0)
  await openObjects(join(folder, 'objects')).put('main', Buffer.from('again'))
  await retain(later(KEPT_DAYS + 31))
  expect(existsSync(path)).toBe(true)
})

test('the body of an entity stays as long as an entity names it', async () => {
  const [body, other] = [await objectOf('body', 0), await objectOf('nobody names it', 0)]
  const objectstore_ref = `objstore://main/${body.slice(-64)}`
  await graph.put('main', [place('a', [], { objectstore_ref })])
  await retain(later(1_000))
  expect([body, other].map(existsSync)).toEqual([true, false])
  await graph.delete('main', [idOf('a')])
  await retain(later(1_000))
  expect(existsSync(body)).toBe(false)
})

test('what a run that lives may name stays: it began on day 0, and may use results of ten days before', async () => {
  await begun(1)
  const paths = [await objectOf('ten days before', -KEPT_DAYS + 1), await objectOf('in it', 5)]
  const older = await objectOf('longer before', -KEPT_DAYS - 1)
  await retain(later(1_000))
  expect([...paths, older].map(existsSync)).toEqual([true, true, false])
})

/** A small object that was last written on that day: a row. */
async function rowOf(text: string, day: number): Promise<string> {
  const { ref } = await objects.put('main', Buffer.from(text))
  const set = db.prepare('UPDATE objects SET written_at = ? WHERE sha256 = unhex(?)')
  expect(set.run(later(day), ref.slice(-64)).changes).toBe(1)
  return ref
}

test('long ones go with their bodies, and stay as long as an entity names them', async () => {
  const long = async (text: string) => (await objects.put('main', Buffer.alloc(2_000, text))).ref
  const [old, body] = [await long('old'), await long('body')]
  db.prepare('UPDATE long_objects SET written_at = ?').run(later(0))
  await graph.put('main', [place('a', [], { objectstore_ref: body })])
  await retain(later(1_000))
  expect(await areThere([old, body])).toEqual([false, true])
  expect(rows()).toMatchObject({ long_objects: 1, long_bodies: 1 })
})

const areThere = (refs: readonly string[]) => Promise.all(refs.map((ref) => objects.has('main', ref)))

test('small objects, which are rows, go and stay by the same rules, however many they are', async () => {
  const many = await Promise.all(Array.from({ length: 1_200 }, (_, i) => rowOf(`old ${i}`, i % 2 === 0 ? 0 : 2)))
  const [again, body] = [await rowOf('again', 0), await rowOf('body', 0)]
  await graph.put('main', [place('a', [], { objectstore_ref: body })])
  await objects.put('main', Buffer.from('again'))
  await retain(later(KEPT_DAYS + 29))
  expect(await areThere([...many, again, body])).not.toContain(false)
  await retain(later(KEPT_DAYS + 31))
  expect(await areThere(many)).toEqual(many.map((_, i) => i % 2 === 1))
  expect(await areThere([again, body])).toEqual([true, true])
  expect(removed).toEqual([{ runs: 0, objects: 600, retention_days: KEPT_DAYS }])
})

test('of small objects too, what a run that lives may name stays', async () => {
  await begun(1)
  const refs = [await rowOf('ten days before', -KEPT_DAYS + 1), await rowOf('in it', 5)]
  const older = await rowOf('longer before', -KEPT_DAYS - 1)
  await retain(later(1_000))
  expect(await areThere([...refs, older])).toEqual([true, true, false])
})

test('a folder without objects is fine', async () => {
  await retain(later(100))
  expect(readdirSync(folder)).not.toContain('objects')
})

test('what a chain wrote of itself into the graph goes with its run, and nothing else of the graph', async () => {
  const [old, living] = [await ended(1), await begun(2)]
  const about = (run_id: string): Triple => ({
    subject: loopEntityId('main', run_id),
    predicate: 'research.parent_loop',
    object: idOf('kept'),
    source: 'agent-research-graph',
    timestamp: time(0),
    confidence: 1,
    rule_opaque: false,
  })
  await graph.put('main', [place('kept')])
  await graph.addTriples('main', [about(old.run_id), about(living.run_id)])
  const near = async () => {
    const met = await graph.neighbours('main', { entity_id: idOf('kept'), direction: 'in', depth: 1, limit: 9 })
    return met.entities.map(({ entity_id }) => entity_id)
  }
  await retain(later(KEPT_DAYS - 1))
  expect(await near()).toHaveLength(2)
  await retain(later(KEPT_DAYS + 1))
  expect(await near()).toEqual([loopEntityId('main', living.run_id)])
  expect(await graph.entity('main', loopEntityId('main', old.run_id))).toBeUndefined()
})
