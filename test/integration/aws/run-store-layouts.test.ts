import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AttributeValue, type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTail, tailPart } from '../../../functions/aws/run-store/event-encoding.ts'
import { runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'
import type { Head } from '../../../shared/runs/head.ts'
import { at, ending, keyOf, newRun, started, step, time } from '../../conformance/run-store-fixture.ts'
import { createItemStore, type ItemStore } from '../../faults/item-store/create-item-store.ts'

/** A run of layout 1 that is in the middle of its life, item by item, as an earlier version wrote it, and as it read it. */
const OLDER: {
  readonly items: readonly Record<string, AttributeValue>[]
  readonly head: Head
  readonly events: readonly RunEvent[]
} = JSON.parse(readFileSync(join(import.meta.dirname, '../../machines/older-table.json'), 'utf8'))

const run = keyOf(newRun(1).meta)

function openStore(client: Pick<DynamoDBClient, 'send'>) {
  const clock = { now: () => Date.parse(time(1_000)), delay: async () => {} }
  return runStoreOn({ client, table: 'runs', clock, ids: { random: (bytes) => randomBytes(bytes) } })
}

async function olderTable(): Promise<ItemStore> {
  const table = createItemStore()
  for (const item of OLDER.items) await table.client.send(new PutItemCommand({ TableName: 'runs', Item: item }))
  return table
}

const headOf = (table: ItemStore) => table.item(`T#${run.tenant}#R#${run.run_id}`, 'HEAD') ?? {}

test('a run that an earlier version began reads as it did, goes on as it began, and its chain closes', async () => {
  const table = await olderTable()
  const store = openStore(table.client)
  expect(await store.head(run)).toEqual(OLDER.head)
  expect(await store.events(run, 0, 1_000)).toEqual(OLDER.events)
  for (const block of [7, 9, 10, 11, 12, 13]) {
    if (block !== 7) await store.append(step(run, `${block}`, at(1, 10), { events: [started(`b${block}`, 1)] }))
    expect(await store.append(step(run, `${block}`, at(1, 90)))).toMatchObject({ ok: true })
    expect(await store.append(step(run, `${block}`, at(1, 90)))).toEqual({ ok: false, because: 'already' })
  }
  expect(Object.keys(headOf(table))).toEqual(expect.not.arrayContaining(['log', 'packed']))
  const item = { item_of: { block: 8, below: at(1, 90) } }
  expect(await openStore(table.client).append(step(run, '8.0', at(1, 90), item))).toMatchObject({ ok: true })
  expect(await openStore(table.client).append(ending(run))).toMatchObject({ ok: true })
  const events = await store.events(run, 0, 1_000)
  expect(events.slice(0, OLDER.events.length)).toEqual(OLDER.events)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
  expect(await store.sealed(run)).toEqual({ seq: events.length, hash: hashAfter(events) })
  expect(headOf(table).tail).toEqual({ L: [] })
})

test('its first append of a process is refused once, and no later one is', async () => {
  const table = await olderTable()
  const sent: string[] = []
  const send = ((command: never) => {
    sent.push((command as object).constructor.name)
    return table.client.send(command)
  }) as DynamoDBClient['send']
  const store = openStore({ send })
  await store.append(step(run, '20', at(1, 10)))
  expect(sent).toEqual(['UpdateItemCommand', 'UpdateItemCommand'])
  await store.append(step(run, '21', at(1, 10)))
  expect(sent).toHaveLength(3)
})

test('a writer of an earlier version finds no tail in a run that began since: it takes no part', async () => {
  const table = createItemStore()
  await openStore(table.client).create(newRun(1))
  expect(headOf(table)).toMatchObject({ v: { N: '2' } })
  expect(headOf(table)).not.toHaveProperty('tail')
})

test('events are what they were, whatever is in them', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 24 }), (data) => {
      const texts = data.map((text, i) => JSON.stringify({ id: `0/1010/${i}`, text }))
      const { entries, bytes } = tailPart(texts, 2)
      const read = readTail({
        v: { N: '2' },
        log: { L: [...(entries.L ?? []), ...(tailPart(['{}'], 2).entries.L ?? [])] },
      })
      expect([read.waiting, read.tail()]).toEqual([texts.length + 1, [...texts, '{}']])
      expect(bytes).toBe(entries.L?.[0]?.B?.length)
    }),
  )
})

test('what was packed once can be read for ever', () => {
  const texts = [
    '{"w":"04N2ra1W","id":"3/1010/0","at":"2026-11-27T10:49:22.133Z","type":"block:ready","block_id":"b3","data":{}}',
    '{"id":"3/1010/1","at":"2026-11-27T10:49:22.133Z","type":"block:started","block_id":"b3","attempt":1,"data":{"inputs_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","context_version":0,"holder":"boot/1","lease_until":"2026-11-27T10:49:52.133Z"}}',
  ]
  const stored = Buffer.from(PACKED, 'base64')
  const log: AttributeValue = { L: [{ B: stored }, { NULL: true }] }
  expect(readTail({ v: { N: '2' }, log }).tail()).toEqual(texts)
})

const PACKED =
  'AfP5siSDhJSBiZ9RUaJhOCzEjPGGmImllZGRnqGxMTEhlmSMLcyM8QYabguwBhrYCsLBRoXCAW+wJ+Xnl4B9hC/wTSytTKFeq60FAA=='

test.each([
  ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 4)],
  ['cut down to nothing', (bytes: Buffer) => bytes.subarray(0, 1)],
  ['changed in its last bit', (bytes: Buffer) => bytes.with(-1, (bytes.at(-1) ?? 0) ^ 128)],
  ['of a version that is not known', (bytes: Buffer) => Buffer.concat([Buffer.from([9]), bytes.subarray(1)])],
])('an entry that is %s is named, and is no empty log', (_, harmed) => {
  const { entries } = tailPart(['{"a":1}', '{"b":2}'], 2)
  const log = { L: [{ B: harmed(Buffer.from(entries.L?.[0]?.B ?? [])) }, { NULL: true as const }] }
  const read = () => readTail({ sk: { S: 'HEAD' }, v: { N: '2' }, log }).tail()
  expect(read).toThrow(expect.objectContaining({ name: 'Bug', code: 'item_corrupt' }))
})
