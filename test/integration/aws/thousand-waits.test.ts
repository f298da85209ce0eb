import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRunStore } from '../../../functions/aws/run-store/run-store.ts'
import { openWaits } from '../../../functions/aws/waits.ts'
import type { PortOpeners } from '../../../functions/aws/world.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import { type DynamodbEmulator, startDynamodb } from '../../emulators/dynamodb.ts'
import { atMost } from '../../how-much.ts'
import { lambdaArn } from './aws-settings.ts'
import { startEntries } from './entries-place.ts'

/**
 * A thousand waits at once on the table store, a tenth of them every day: every function behind its Lambda entry, over the
 * wire. While they wait no function is called and the table stays as it is.
 */
const WAITS = atMost(1_000)
let dynamodb: DynamodbEmulator
let table: string
let place: Awaited<ReturnType<typeof startEntries>>

beforeAll(async () => {
  dynamodb = await startDynamodb()
  table = await dynamodb.createTable()
  const { aws } = dynamodb
  const stores: PortOpeners = { runs: (core) => openRunStore(core, aws), waits: (core) => openWaits(core, aws) }
  place = await startEntries({ table, aws, stores, at_once: 20 })
})
afterAll(async () => {
  await place.close()
  await dynamodb.close()
})

/** Every item of the table, as one hash. */
async function contents(): Promise<{ readonly items: number; readonly hash: string }> {
  const client = new DynamoDBClient(dynamodb.aws)
  const items: Json[] = []
  for (let ExclusiveStartKey: undefined | Record<string, never>; ; ) {
    const page = await client.send(
      new ScanCommand({ TableName: table, ConsistentRead: true, ...(ExclusiveStartKey && { ExclusiveStartKey }) }),
    )
    items.push(...JSON.parse(JSON.stringify(page.Items ?? [])))
    ExclusiveStartKey = page.LastEvaluatedKey as typeof ExclusiveStartKey
    if (ExclusiveStartKey === undefined) break
  }
  client.destroy()
  return {
    items: items.length,
    hash: sha256(
      items
        .map((item) => canonicalJson(item))
        .toSorted()
        .join('\n'),
    ),
  }
}

const viewOf = async (run: string) => (await place.call('get-run', run)).json
const stateOf = async (run: string) => (await viewOf(run)).run.state
const timesCalled = (name: string) => place.called.filter((one) => one === name).length
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test(`${WAITS} blocks that wait for one event cost nothing while they wait, and all end by it`, {
  // Daily the local place does the same (test/integration/thousand-waits.test.ts).
  tags: ['thorough'],
  timeout: 900_000,
}, async () => {
  const wait = { event: { name: 'go.many' } }
  const blocks = Array.from({ length: WAITS }, (_, i) => ({ id: `w${i}`, mode: 'wait', wait }))
  const started = await place.call('start-run', undefined, { dag: JSON.stringify({ name: 'many', blocks }) })
  expect(started).toMatchObject({ status: 201 })
  const { run_id } = started.json
  await expect.poll(() => stateOf(run_id), { timeout: 400_000, interval: 500 }).toBe('waiting')
  await place.lambda.settled()
  await pause(1_000)
  // Some are called again where the store was busy with the others.
  expect(timesCalled('open-wait')).toBeGreaterThanOrEqual(WAITS)

  // The sweep comes each minute, and looks at a run that lives every five: this one may be older than that by now.
  await place.lambda.invoke(lambdaArn('sweep'), {})
  await place.lambda.settled()
  place.called.length = 0
  const before = await contents()
  await pause(atMost(3_000, 1_000))
  expect(place.called).toEqual([])
  await place.lambda.invoke(lambdaArn('sweep'), {})
  expect(place.called).toEqual(['sweep'])
  expect(await contents()).toEqual(before)

  // A request looks at waits for 15 s: sent again, the same event goes on with the others.
  for (let all = false; !all; ) {
    const sent = await place.call('send-event', undefined, { name: 'go.many', id: 'many-1' })
    expect(sent.status).toBe(200)
    all = sent.json.all
  }
  await expect.poll(() => stateOf(run_id), { timeout: 400_000, interval: 500 }).toBe('completed')
  await place.lambda.settled()
  // One call more of the machine for each: it takes what came. What was told that the store is busy is called again when its
  // machine says so, which may be now.
  expect(timesCalled('open-wait')).toBeLessThan(WAITS / 10)
  expect(timesCalled('run-block')).toBeGreaterThanOrEqual(WAITS)
  expect((await viewOf(run_id)).run.last_seq).toBe(6 * WAITS + 2)
})
