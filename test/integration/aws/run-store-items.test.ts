import { randomBytes } from 'node:crypto'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RUN_INDEXES } from '../../../shared/runs/dynamodb-table.ts'
import type { NewEvent } from '../../../shared/runs/event.ts'
import { type LaneOwner, laneKey } from '../../../shared/runs/lane.ts'
import { type Append, type RunStore, shownApprovalStatus } from '../../../shared/runs/run-store.ts'
import {
  at,
  ending,
  keyOf,
  newRun,
  pending,
  question,
  ready,
  started,
  step,
  time,
} from '../../conformance/run-store-fixture.ts'
import { type DynamodbEmulator, startDynalite } from '../../emulators/dynamodb.ts'
import { firstDaily } from '../../how-much.ts'
import { type DynamodbPlace, openPlace, sizeOf } from './dynamodb-place.ts'
import { loseAll } from './interrupt.ts'

let emulator: DynamodbEmulator
let place: DynamodbPlace
const run = keyOf(newRun(1).meta)
beforeAll(async () => {
  emulator = await startDynalite()
})
afterAll(() => emulator.close())
beforeEach(async () => {
  place = await openPlace(emulator)
  await place.store.create(newRun(1))
})
afterEach(() => place.close())

describe('items', () => {
  test('HEAD is small and has every map from its first put', async () => {
    const head = (await place.item(run, 'HEAD')) ?? {}
    expect(Object.keys(head).sort()).toEqual(
      'approvals base base_hash by_tenant check_at children created dag_name deadline_at due items lanes log modules outbox pk sk state stored_bytes unpriced_tokens v'.split(
        ' ',
      ),
    )
    expect(sizeOf(head)).toBeLessThan(1_024)
  })

  test('the tail is spilled into pages of at least 8 events, keyed by their last seq; the end spills the rest', async () => {
    for (let i = 1; i <= 19; i += 1) await place.store.append(step(run, String(i), at(1, 10)))
    expect((await place.items(run, 'P#')).map(({ sk, base, n }) => [sk?.S, base?.N, n?.N])).toEqual([
      ['P#000000000008', '0', '8'],
      ['P#000000000016', '8', '8'],
    ])
    await place.store.append(ending(run))
    const pages = await place.items(run, 'P#')
    expect([pages.at(-1)?.sk?.S, (await place.item(run, 'HEAD'))?.log?.L]).toEqual(['P#000000000021', []])
  })

  test('a live HEAD never expires; an ended one does after 91 days, what lies beside it later', async () => {
    expect(await daysKept(place)).toEqual([91, 912, 912, 456, 456, 456, 456, 456, 456, 456])
  })

  test('a retention past 91 days keeps all of them so much longer', async () => {
    const longer = await openPlace(emulator, { retention_days: 400 })
    await longer.store.create(newRun(1))
    expect(await daysKept(longer)).toEqual([400, 1_530, 1_530, 765, 765, 765, 765, 765, 765, 765])
    longer.close()
  })

  test("an artifact of an older attempt does not take a newer one's place", async () => {
    await place.store.putArtifact(run, artifact(2))
    await place.store.putArtifact(run, artifact(1))
    expect(await place.store.artifacts(run)).toEqual([artifact(2)])
    await place.store.putArtifact(run, { ...artifact(1), block_id: 'other' })
    expect(await place.store.artifacts(run)).toEqual([{ ...artifact(1), block_id: 'other' }])
  })
})

describe('the inbox, index 3', () => {
  const inbox = async (partition = 'T#main') => {
    const { name, hash } = RUN_INDEXES.approvals
    return (await place.index(name, hash, partition)).map(({ sk }) => sk?.S)
  }

  test('has the questions nobody answered apart from the others; a late repeat of an answered one does not come back', async () => {
    for (const id of ['p', 'q']) {
      await place.store.putApproval(run, question(id, 0), 'token-1')
      await place.store.append(step(run, id, 10, { approval: { id, was: null, set: pending(0) } }))
    }
    expect(await inbox()).toEqual(['A#p', 'A#q'])
    const set = { ...pending(0), status: 'approved' } as const
    await place.store.append(step(run, 'p', 90, { approval: { id: 'p', was: 'pending', set } }))
    expect(await inbox()).toEqual(['A#q'])
    await place.store.putApproval(run, question('p', 0), 'token-2')
    expect([await inbox(), await inbox('C#main')]).toEqual([['A#q'], ['A#p']])
    expect(await place.store.approvalTokens(run, 'p')).toEqual(['token-1', 'token-2'])
  })

  test('has nothing open of a run that ended', async () => {
    await place.store.putApproval(run, question('p', 0), 'token-1')
    await place.store.append(step(run, 'p', 10, { approval: { id: 'p', was: null, set: pending(0) } }))
    await place.store.append(ending(run))
    expect([await inbox(), await inbox('C#main')]).toEqual([[], ['A#p']])
  })

  test('an entry a dying writer left among the open ones is read with what HEAD says of it', async () => {
    await place.store.putApproval(run, question('p', 0), 'token-1')
    await place.store.append(step(run, 'p', 10, { approval: { id: 'p', was: null, set: pending(0) } }))
    loseAll(place.client, /closed/)
    const set = { ...pending(0), status: 'rejected' } as const
    const decided = place.store.append(step(run, 'p', 90, { approval: { id: 'p', was: 'pending', set } }))
    await expect(decided).rejects.toMatchObject({ name: 'Unavailable' })
    expect(await inbox()).toEqual(['A#p'])
    const { asked } = await place.another().inbox('main', { closed: false, limit: 10 })
    expect(asked.map(({ head, item }) => shownApprovalStatus(head, item.id))).toEqual(['rejected'])
  })
})

describe('HEAD at 1,000 blocks, all of them running under a budget, while nobody can spill', () => {
  for (const { tags, rows } of firstDaily<[string, number, number]>(1, [
    ['the largest', 8, 940],
    ['small', 2, 920],
  ])) {
    test.each(rows)('stays within 32 KB, filled by %s appends', { tags }, async (_, events, bytes) => {
      const still = await openPlace(emulator, { delay: async () => {} })
      await still.store.create({ ...newRun(1), caps: { cap_tokens: 10 ** 15, cap_usd_micros: 10 ** 15 }, queued: true })
      await still.store.releaseQueued(run, { at: time(1), deadline_at: time(2), check_at: time(2) })
      await still.widen(run, 1_000, 1_000)
      await burden(still.store)
      refusePages(still.client)
      const last = await fill(still, events, bytes)
      expect(last).toMatchObject({ name: 'Unavailable' })
      const size = sizeOf((await still.item(run, 'HEAD')) ?? {})
      console.log(`HEAD at 1,000 blocks, tail full of ${events * bytes}-byte appends: ${size} bytes`)
      expect(size).toBeLessThanOrEqual(32_768)
      still.close()
    })
  }
})

/** For how many days HEAD is kept after its end, and the items beside it from when they were written. */
async function daysKept(place: DynamodbPlace): Promise<readonly number[]> {
  const kinds = ['HEAD', 'META', 'CTX', 'PARENT', 'STOP', 'B#0', 'J#1', 'A#apr_1', 'F#a.md', 'P#000000000009']
  const projection = { block: 0, ordinal: at(1, 10), state: 'running', attempt: 1 } as const
  await place.store.append(step(run, '0', at(1, 10), { projection }))
  await place.store.create({ ...newRun(1), parent_token: 'token' })
  await place.store.putStop(run)
  await place.store.signalJoin(run, '1', '0')
  await place.store.putApproval(run, question('apr_1', 0), 'token')
  await place.store.putArtifact(run, artifact(1))
  expect(await place.item(run, 'HEAD')).not.toHaveProperty('ttl')
  for (let i = 1; i <= 6; i += 1) await place.store.append(step(run, `${i}`, at(1, 10)))
  await place.store.append(ending(run))
  const items = await Promise.all(kinds.map((sk) => place.item(run, sk)))
  return items.map((item) => Math.floor((Number(item?.ttl?.N) * 1_000 - Date.parse(time(0))) / 86_400_000))
}

/**
 * What else a large run has in HEAD: ten questions, calls beside a hundred blocks, ten foreach blocks with a cap; in
 * 112 events, so that the tail is empty again.
 */
async function burden(store: RunStore): Promise<void> {
  const reserve = { tokens: 10 ** 9 + 7, usd_micros: 10 ** 9 + 7 }
  for (let block = 0; block <= 100; block += 1) {
    const share = block < 10 ? { share: { block, cap_tokens: 10 ** 12 } } : {}
    await store.append(step(run, `g${block}`, at(1, 1), { reserve, ...share }))
  }
  for (let block = 0; block < 10; block += 1) {
    const id = `apr_${run.run_id.slice(4)}_${block}_0`
    await store.append(step(run, `a${block}`, 10, { approval: { id, was: null, set: pending(block) } }))
  }
}

/** Appends until one fails. */
async function fill({ store }: DynamodbPlace, events: number, bytes: number): Promise<unknown> {
  const event: NewEvent = { type: 'block:failed', block_id: 'b', data: { code: 'c', reason: '' } }
  // Letters of no order: they do not pack.
  const reason = () =>
    randomBytes(bytes)
      .toString('base64url')
      .slice(0, bytes - JSON.stringify(event).length)
  const full = Array.from({ length: events }, () => ({ ...event, data: { code: 'c', reason: reason() } }))
  for (let i = 1; i < 20; i += 1) {
    const done = await store.append(step(run, 'run', at(1, 10 + i), { events: full })).catch((error: unknown) => error)
    if (done instanceof Error) return done
  }
  return undefined
}

function refusePages(client: DynamoDBClient): void {
  client.middlewareStack.add(
    (next) => (args) => {
      if (/"sk":{"S":"P#/.test(JSON.stringify(args.input))) throw Object.assign(new Error('cut off'), { code: 'EPIPE' })
      return next(args)
    },
    { step: 'initialize' },
  )
}

function artifact(attempt: number) {
  const ref = `objstore://main/${'a'.repeat(64)}`
  return {
    name: 'a.md',
    ref,
    sha256: 'a'.repeat(64),
    bytes: attempt,
    media_type: 'text/markdown',
    block_id: 'b',
    attempt,
  }
}

/** What an append costs: units of HEAD, of spilling, and of projections. A unit is 1 KB of the larger item, before or after. */
describe('write units', () => {
  const rows: Record<string, number>[] = []
  afterAll(() => console.table(rows))

  for (const { tags, rows: given } of firstDaily<[number, number]>(1, [
    [50, 2],
    [2, 2],
    [200, 3],
    [1_000, 8],
  ])) {
    test.each(given)('an append to a HEAD of %i blocks costs at most %i on average', { tags }, async (blocks, most) => {
      await place.widen(run, blocks, Math.min(blocks, 50))
      const units = countUnits(place.client)
      const before = (await place.store.head(run))?.seq ?? 0
      let appends = 0
      for (let i = 0; i < 32; i += 1) {
        for (const append of blockSteps({ block: i % blocks }, 2 + Math.floor(i / blocks))) {
          expect(await place.store.append(append)).toMatchObject({ ok: true })
          appends += 1
        }
      }
      const events = ((await place.store.head(run))?.seq ?? 0) - before
      const each = (sum: number, count: number) => Number((sum / count).toFixed(2))
      rows.push({
        blocks,
        head_bytes: sizeOf((await place.item(run, 'HEAD')) ?? {}),
        appends,
        events,
        units_a_head_update: each(units.head, appends),
        units_an_event: each(units.head + units.spills, events),
        with_projections: each(units.head + units.spills + units.beside, events),
      })
      expect(units.head / appends).toBeLessThanOrEqual(most)
    })
  }
})

/** A foreach block in a DAG of ten: what an append of an item costs when so many items have a lane already. */
describe('write units of a foreach block', () => {
  const rows: { items: number; head_bytes: number; units_a_head_update: number; with_all: number }[] = []
  afterAll(() => {
    console.table(rows)
    const mean = (rows.reduce((sum, row) => sum + row.with_all, 0) / rows.length) * 3_000
    console.log(`a foreach of 1,000 items, 3 appends each: about ${Math.round(mean)} write units`)
  })

  for (const { tags, rows: given } of firstDaily<[number, number]>(1, [
    [250, 4],
    [0, 2],
    [500, 6],
    [750, 8],
    [1_000, 10],
  ])) {
    test.each(given)('with %i items at most %i an append on average', { tags }, async (items, most) => {
      await place.widen(run, 10, 4)
      await place.widenItems(run, 5, items)
      const units = countUnits(place.client)
      for (let i = 0; i < 16; i += 1) {
        for (const append of blockSteps({ block: 5, item: items + i }, 1)) {
          expect(await place.store.append(append)).toMatchObject({ ok: true })
        }
      }
      const each = (sum: number) => Number((sum / 48).toFixed(2))
      const head_bytes = sizeOf((await place.item(run, 'HEAD')) ?? {})
      const all = units.head + units.spills + units.beside
      rows.push({ items, head_bytes, units_a_head_update: each(units.head), with_all: each(all) })
      expect(units.head / 48).toBeLessThanOrEqual(most)
    })
  }

  test('the end of the block drops 1,000 item lanes at the price of one append', async () => {
    await place.widen(run, 10, 4)
    await place.widenItems(run, 5, 1_000)
    const units = countUnits(place.client)
    await place.store.append(step(run, '5', at(1, 90), { drop_items: { block: 5 } }))
    expect(units.head).toBeLessThanOrEqual(12)
    expect(sizeOf((await place.item(run, 'HEAD')) ?? {})).toBeLessThan(1_024)
  })
})

/** The three appends of a block, or of an item, that runs: claim, output and verdict, end. */
function blockSteps(owner: LaneOwner, attempt: number): readonly Append[] {
  const id = `b${owner.block}`
  const lane = laneKey(owner)
  const item_of = owner.item === undefined ? {} : { item_of: { block: owner.block, below: at(1, 90) } }
  const projection = { ...owner, attempt, state: 'running', holder: 'boot/1', lease_until: time(30_000) } as const
  const ref = { ref: `objstore://main/${'a'.repeat(64)}`, sha256: 'a'.repeat(64), bytes: 1_200 }
  const hash = 'f'.repeat(64)
  const output: NewEvent = {
    type: 'block:output',
    block_id: id,
    attempt,
    data: {
      outputs: { text: ref },
      provider: 'local',
      model: 'outline',
      params_hash: hash,
      prompt_hash: hash,
      tokens_in: 800,
      tokens_out: 300,
      latency_ms: 12.5,
      finish_reason: 'stop',
    },
  }
  const gate: NewEvent = {
    type: 'block:gate',
    block_id: id,
    attempt,
    data: {
      gate: 'min_length',
      type: 'min_length',
      phase: 'post',
      status: 'passed',
      reason: 'has 1200 characters, at least 200 asked',
      input_hash: hash,
      facts: { length: 1_200 },
      duration_ms: 0.2,
    },
  }
  const [claimed, judged, ended] = [at(attempt, 10), at(attempt, 40), at(attempt, 90)]
  return [
    step(run, lane, claimed, {
      events: [ready(id), started(id, attempt)],
      ...item_of,
      start: { ...owner, limit: 0 },
      projection: { ...projection, ordinal: claimed },
    }),
    step(run, lane, judged, { ...item_of, events: [output, gate] }),
    step(run, lane, ended, {
      events: [{ type: 'block:completed', block_id: id, attempt, data: {} }],
      ...item_of,
      end: owner,
      projection: { ...projection, ordinal: ended, state: 'completed', outputs: { text: ref } },
    }),
  ]
}

/** As the table counts them. Indexes are not in it: these writes move no index key. */
function countUnits(client: DynamoDBClient): { head: number; spills: number; beside: number } {
  const units = { head: 0, spills: 0, beside: 0 }
  client.middlewareStack.add(
    (next) => async (args) => {
      const text = JSON.stringify(args.input)
      const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } })
      // The output of any command; only writes of ours ask for a condition or a whole item.
      const { ConsumedCapacity } = answer.output as { ConsumedCapacity?: { CapacityUnits?: number } }
      if (/UpdateExpression|"Item"/.test(text)) units[kindOf(text)] += ConsumedCapacity?.CapacityUnits ?? 0
      return answer
    },
    { step: 'initialize' },
  )
  return units
}

function kindOf(text: string): 'head' | 'spills' | 'beside' {
  if (text.includes('list_append')) return 'head'
  return /"sk":{"S":"(P#|HEAD)/.test(text) ? 'spills' : 'beside'
}
