import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { handler } from '../../functions/api/verify-run.ts'
import { runStoreOn } from '../../functions/aws/run-store/run-store.ts'
import { openRunStore } from '../../infra/local/run-store/run-store.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { SCOPES } from '../../shared/auth/scopes.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { hashAfter } from '../../shared/runs/hash-chain.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'
import { type DynamodbEmulator, startDynamodb } from '../emulators/dynamodb.ts'
import { atMost } from '../how-much.ts'
import { importRun } from './import-run.ts'
import { richRun } from './rich-run.ts'
import type { TestPlace } from './test-place.ts'

/** One byte of one stored event is changed, past the store: verify must say so, whichever byte it is. */
const EDITS = atMost(100, 20)
const principal: Principal = { kind: 'user', id: 'ana', tenant: 'main', scopes: SCOPES }

let place: TestPlace
let run_id: string
let events: readonly RunEvent[]

beforeAll(async () => {
  ;({ place, run_id } = await richRun())
  events = await place.events(run_id)
})
afterAll(() => place.close())

interface Checks {
  readonly ok: boolean
  readonly seq: number
  readonly seal: { readonly seq: number; readonly hash: string; readonly matches: boolean } | null
  readonly checks: readonly { readonly n: number; readonly title: string; readonly ok: boolean }[]
}

/** The route, on this place with another run store. */
async function verify(runs: RunStore): Promise<Checks> {
  const event = { httpMethod: 'GET', path: '/', pathParameters: { run_id }, queryStringParameters: null, headers: {} }
  const log = { info: () => undefined, error: () => undefined }
  const context = { world: { ...place.place.world, runs, log }, principal }
  const { statusCode, body } = (await handler(event, context)) as { statusCode: number; body: string }
  expect([statusCode, body.slice(0, 300)]).toEqual([200, expect.anything()])
  return JSON.parse(body)
}

/** By the chain, or since the record cannot even be read. */
function foundIn({ checks }: Checks): boolean {
  return checks.some(({ n, title, ok }) => !ok && (n === 0 || title === 'the record can be read'))
}

/** Another byte at that place; text that is not UTF-8 any more reads as something else, too. */
function edited(was: Uint8Array | readonly number[], at: number, by: number): Buffer {
  const bytes = Buffer.from(was)
  const i = at % bytes.length
  bytes[i] = ((bytes[i] ?? 0) + 1 + (by % 255)) % 256
  return bytes
}

const someEdit = fc.record({ row: fc.nat(), at: fc.nat(), by: fc.nat() })

describe('SQLite', () => {
  let folder: string
  let db: DatabaseSync
  let runs: RunStore
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-bytes-'))
    cpSync(join(place.folder, 'data'), folder, { recursive: true })
    db = new DatabaseSync(join(folder, 'sluice.db'))
    runs = openRunStore(db)
  })
  afterAll(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('the run as it is holds', async () => {
    const whole = await verify(runs)
    expect(whole.checks.filter(({ ok }) => !ok)).toEqual([])
    expect(whole).toMatchObject({ ok: true, seal: { seq: events.length, hash: hashAfter(events), matches: true } })
  })

  test('any edited byte of a stored event is found', async () => {
    const all = db.prepare('SELECT id, event_id, at, body FROM events ORDER BY id').all()
    const back = (name: string) => db.prepare(`UPDATE events SET ${name} = ? WHERE id = ?`)
    await fc.assert(
      fc.asyncProperty(someEdit, fc.constantFrom('body', 'body', 'event_id', 'at'), async ({ row, at, by }, name) => {
        const { id = 0, [name]: text } = all[row % all.length] ?? {}
        db.prepare(`UPDATE events SET ${name} = CAST(? AS TEXT) WHERE id = ?`).run(
          edited(Buffer.from(String(text)), at, by),
          id,
        )
        const found = foundIn(await verify(runs))
        back(name).run(text ?? '', id)
        expect(found).toBe(true)
      }),
      { numRuns: EDITS },
    )
    expect((await verify(runs)).checks.filter(({ ok }) => !ok)).toEqual([])
  })

  test.each(['DELETE FROM events WHERE id = ?', 'UPDATE events SET id = id + 1000 WHERE id = ?'])(
    'an event that is gone is found: %s',
    async (change) => {
      const ids = db.prepare('SELECT id FROM events ORDER BY id').all()
      db.exec('BEGIN')
      db.prepare(change).run(ids[3]?.id ?? 0)
      const checked = await verify(runs)
      db.exec('ROLLBACK')
      expect([checked.ok, foundIn(checked)]).toEqual([false, true])
    },
  )
})

describe('DynamoDB', () => {
  let emulator: DynamodbEmulator
  let client: DynamoDBClient
  let table: string
  let runs: RunStore
  beforeAll(async () => {
    emulator = await startDynamodb()
    table = await emulator.createTable()
    client = new DynamoDBClient(emulator.aws)
    const { clock, ids, runs: local } = place.place.world
    runs = runStoreOn({ client, table, clock, ids })
    const meta = await local.meta({ tenant: 'main', run_id })
    if (meta === undefined) throw new Error('no META')
    await importRun(runs, meta, events)
  })
  afterAll(async () => {
    client.destroy()
    await emulator.close()
  })

  const pages = async () => {
    const query = new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :p)',
      ExpressionAttributeValues: { ':pk': { S: `T#main#R#${run_id}` }, ':p': { S: 'P#' } },
    })
    return (await client.send(query)).Items ?? []
  }

  test('the chain of the same events is the same there', async () => {
    const { seal, checks } = await verify(runs)
    expect(seal).toEqual({ seq: events.length, hash: hashAfter(events), matches: true })
    expect(checks[0]).toMatchObject({ n: 0, ok: true })
  })

  test('any edited byte of a page is found', async () => {
    const stored = await pages()
    expect(stored.length).toBeGreaterThan(0)
    const change = async ({ row, at, by }: { row: number; at: number; by: number }) => {
      const page = stored[row % stored.length] ?? {}
      const B = edited(page.events?.B ?? [], at, by)
      await client.send(new PutItemCommand({ TableName: table, Item: { ...page, events: { B } } }))
      const found = foundIn(await verify(runs))
      await client.send(new PutItemCommand({ TableName: table, Item: page }))
      expect(found).toBe(true)
    }
    // The last byte has bits that unpacking never looks at.
    for (const [row, { events: packed }] of stored.entries()) {
      for (const by of [0, 1, 3, 63]) await change({ row, at: (packed?.B?.length ?? 1) - 1, by })
    }
    await fc.assert(fc.asyncProperty(someEdit, change), { numRuns: EDITS })
    expect((await verify(runs)).seal).toMatchObject({ matches: true })
  })
})

describe('a run that goes on', () => {
  test('is checked as far as it is, and what needs rest, or a bucket of anchors, is left out and said so', async () => {
    const live = await richRun({}, false)
    try {
      const { status, json } = await live.place.call('verify-run', live.run_id)
      const { ok, checks } = json as unknown as { ok: boolean; checks: { n: number; ok: boolean; left_out?: string }[] }
      expect([status, ok, checks.filter((check) => !check.ok)]).toEqual([200, true, []])
      expect(checks.flatMap(({ n, left_out }) => (left_out === undefined ? [] : [n]))).toEqual([33, 41])
    } finally {
      await live.place.close()
    }
  })

  test('of no name is 404', async () => {
    const { status } = await place.call('verify-run', 'run_00000000000000000000000000')
    expect(status).toBe(404)
  })
})
