import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient, GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lambdaClock } from '../../../functions/aws/core.ts'
import { readPage } from '../../../functions/aws/run-store/event-encoding.ts'
import { runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import { Fault } from '../../../shared/errors.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'
import type { Append, Appended, RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { at, ending, keyOf, newRun, ready, started, step, time } from '../../conformance/run-store-fixture.ts'
import { type DynamodbEmulator, startDynamodb } from '../../emulators/dynamodb.ts'
import { type FaultRates, type FaultyClient, faultyClient } from '../../emulators/faulty-dynamodb.ts'
import { atMost } from '../../how-much.ts'

/**
 * Sixteen writers on one run while the network loses requests and answers, delays writes past their time-outs and
 * throttles. What is promised must hold after each seed: docs/invariants.md, 1 to 5.
 */
const WRITERS = 16
const STEPS = 8
const CALM: FaultRates = { lost: 0, unanswered: 0, late: 0, throttled: 0, broken: 0, stale: 0 }
const STORM: FaultRates = { lost: 0.05, unanswered: 0.08, late: 0.05, throttled: 0.01, broken: 0.02, stale: 0.3 }

let emulator: DynamodbEmulator
/** Without faults. */
let plain: DynamoDBClient
beforeAll(async () => {
  emulator = await startDynamodb()
  plain = new DynamoDBClient(emulator.aws)
})
afterAll(async () => {
  plain.destroy()
  await emulator.close()
})

describe('sixteen writers on one run', () => {
  const rows: Record<string, unknown>[] = []
  afterAll(() => console.table(rows))

  test.concurrent.each(
    (
      [
        ['calm', 1, CALM],
        ['storm', 2, STORM],
        ['storm', 4, STORM],
        ['storm', 5, STORM],
        ['storm', 6, STORM],
      ] as const
    ).slice(0, atMost(5, 2)),
  )('%s, seed %i: nothing is lost, nothing is there twice', { tags: ['thorough'] }, async (profile, seed, rates) => {
    const world = await openRun(seed, rates)
    const writers = Array.from({ length: WRITERS }, (_, n) => write(world, n))
    const readers = [follow(world), watch(world)] as const
    const written = (await Promise.all(writers)).flat()
    await endRun(world)
    const [followed] = await Promise.all(readers)
    await world.faulty.settled()
    const all = await world.calm.events(world.run, 0, 10_000)
    expectLog(all, written)
    expect(followed).toEqual(all)
    const pages = await expectStored(world, all)
    rows.push({ ...report(profile, seed, written, world.faulty), pages })
    world.faulty.client.destroy()
  })

  test.concurrent('a stop in the middle of a storm is the last event, once, and no later step is taken', async () => {
    const world = await openRun(7, STORM)
    const writers = Array.from({ length: WRITERS }, (_, n) => write(world, n))
    await sleep(300)
    await Promise.all([endRun(world), endRun(world), endRun(world)])
    const written = (await Promise.all(writers)).flat()
    await world.faulty.settled()
    const all = await world.calm.events(world.run, 0, 10_000)
    expect(written.some(({ answer }) => !answer.ok && answer.because === 'terminal')).toBe(true)
    expect(all.filter(({ type }) => type === 'run:cancelled')).toEqual([all.at(-1)])
    expectLog(all, written)
    await expectStored(world, all)
    world.faulty.client.destroy()
  })
})

interface Stage {
  readonly run: RunKey
  readonly store: RunStore
  /** The same table, without faults. */
  readonly calm: RunStore
  readonly faulty: FaultyClient
  readonly table: string
}

interface Written {
  readonly append: Append
  readonly answer: Appended
  /** The first call failed without an answer, so it may have been applied. */
  readonly doubtful: boolean
  /** Another writer takes the same step. */
  readonly shared: boolean
}

async function openRun(seed: number, rates: FaultRates): Promise<Stage> {
  const table = await emulator.createTable()
  const random = randomOf(seed)
  const faulty = faultyClient(emulator.aws, rates, random)
  const clock = { now: () => Date.parse(time(1_000_000)), delay: lambdaClock.delay }
  const ids = { random: (bytes: number) => Uint8Array.from({ length: bytes }, () => random() * 256) }
  const store = runStoreOn({ client: faulty.client, table, clock, ids })
  await insist(() => store.create(newRun(1)))
  return { run: keyOf(newRun(1).meta), store, calm: runStoreOn({ client: plain, table, clock, ids }), faulty, table }
}

/** Writers 12 to 15 are late twins of 0 to 3: the same steps on the same lanes. */
async function write({ store, run }: Stage, n: number): Promise<readonly Written[]> {
  const block = n % 12
  const done: Written[] = []
  for (let i = 1; i <= STEPS; i += 1) {
    const append = stepOf(run, block, i)
    const { answer, failed } = await insist(() => store.append(append))
    if (answer.ok && i % 4 === 0) {
      const seen = (await insist(() => store.head(run, []))).answer?.seq ?? 0
      expect(seen).toBeGreaterThanOrEqual(answer.seq)
    }
    done.push({ append, answer, doubtful: failed > 0, shared: n >= 12 || n < 4 })
  }
  return done
}

function stepOf(run: RunKey, block: number, i: number): Append {
  const ordinal = at(i, 10)
  const events = Array.from({ length: 1 + ((block + i) % 3) }, () => ready(`b${block}`))
  const projection = { block, ordinal, state: 'running', attempt: i, holder: `h${block}` } as const
  const moved = i % 2 === 1 ? { start: { block, limit: 0 } } : { end: { block } }
  return step(run, String(block), ordinal, { events: [...events, started(`b${block}`, i)], projection, ...moved })
}

/** Calls again while the store is away, as every caller of it does; each call is a new append to the store. */
async function insist<T>(call: () => Promise<T>): Promise<{ readonly answer: T; readonly failed: number }> {
  for (let failed = 0; ; failed += 1) {
    try {
      return { answer: await call(), failed }
    } catch (error) {
      if (!(error instanceof Fault && error.name === 'Unavailable') || failed === 20) throw error
    }
  }
}

async function endRun({ store, run }: Stage): Promise<void> {
  await insist(() => store.append(ending(run)))
}

/** A reader that goes on from what it saw until the run ends. */
async function follow({ store, run }: Stage): Promise<readonly RunEvent[]> {
  const seen: RunEvent[] = []
  while (seen.at(-1)?.type !== 'run:cancelled') {
    const { answer } = await insist(() => store.events(run, seen.length, 5))
    seen.push(...answer)
    if (answer.length === 0) await sleep(5)
  }
  return seen
}

/** Lists come from an index that may be behind; the HEADs in them do not. */
async function watch({ store, run }: Stage): Promise<void> {
  for (let seq = 0, state = 'running'; state === 'running'; await sleep(10)) {
    const [first] = (await insist(() => store.list(run.tenant, { limit: 1 }))).answer.runs
    expect(first?.head.seq ?? 0).toBeGreaterThanOrEqual(seq)
    seq = first?.head.seq ?? seq
    state = first?.head.state ?? state
    await insist(() => store.stopped(run))
  }
}

function expectLog(all: readonly RunEvent[], written: readonly Written[]): void {
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, i) => i + 1))
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  const ids = new Map(all.map(({ id, seq }) => [id, seq]))
  for (const { append, answer, doubtful, shared } of written) {
    const { lane, ordinal, events } = append
    const seqs = events.map((_, i) => ids.get(`${lane}/${ordinal}/${i}`))
    if (answer.ok) expect(seqs).toEqual(events.map((_, i) => answer.seq - events.length + i + 1))
    // A step is answered `already` only to a second call, or after another writer's; its events are there.
    else if (answer.because === 'already') expect([doubtful || shared, seqs.includes(undefined)]).toEqual([true, false])
    else expect(answer.because).toBe('terminal')
  }
  const taken = written.filter(({ answer }) => answer.ok).map(({ append }) => `${append.lane}/${append.ordinal}`)
  expect(new Set(taken).size).toBe(taken.length)
}

/** What lies in the table, read past the store: no tail, pages that are beginnings of one log, a closed chain. */
async function expectStored({ table, run, calm }: Stage, all: readonly RunEvent[]): Promise<number> {
  await calm.moveCheck(run, newRun(1).check_at, undefined)
  const pk = { S: `T#${run.tenant}#R#${run.run_id}` }
  const { Item: head = {} } = await plain.send(
    new GetItemCommand({ TableName: table, Key: { pk, sk: { S: 'HEAD' } }, ConsistentRead: true }),
  )
  expect([head.log?.L, head.base?.N]).toEqual([[], String(all.length)])
  expect(head.base_hash?.S).toBe(hashAfter(all))
  const { Items: pages = [] } = await plain.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :p)',
      ExpressionAttributeValues: { ':pk': pk, ':p': { S: 'P#' } },
    }),
  )
  for (const page of pages) {
    const [base, n] = [Number(page.base?.N), Number(page.n?.N)]
    expect(page.sk?.S).toBe(`P#${String(base + n).padStart(12, '0')}`)
    const ids = readPage(page).map((text): string => JSON.parse(text).id)
    expect(ids).toEqual(all.slice(base, base + n).map(({ id }) => id))
  }
  for (const [since, event] of all.entries()) {
    expect(await calm.events(run, since, 1)).toEqual([event])
  }
  return pages.length
}

function report(profile: string, seed: number, written: readonly Written[], { injected }: FaultyClient) {
  const events = written.filter(({ answer }) => answer.ok).reduce((sum, { append }) => sum + append.events.length, 0)
  const doubtful = written.filter((step) => step.doubtful).length
  return { profile, seed, appends: written.length, events, doubtful, ...injected }
}

/** mulberry32 */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
