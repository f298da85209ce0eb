import { randomBytes } from 'node:crypto'
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lambdaClock } from '../../../functions/aws/core.ts'
import { openGraphStore } from '../../../functions/aws/graph-store/graph-store.ts'
import { openRunStore, runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import { openTriggers } from '../../../functions/aws/triggers.ts'
import { openWaits } from '../../../functions/aws/waits.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { startVersionedS3, type VersionedS3 } from '../../emulators/versioned-s3.ts'
import { lambdaArn } from './aws-settings.ts'
import { routeEvent, startEntries } from './entries-place.ts'
import { startMachinesPlaces } from './machines-place.ts'

/** Every function behind its Lambda entry, on DynamoDB and on a bucket that keeps versions. */
const SECRET = 'ZUCKERWATTE'
let places: Awaited<ReturnType<typeof startMachinesPlaces>>
let place: Awaited<ReturnType<typeof startEntries>>
let s3: VersionedS3
let runs: RunStore
let scan: () => Promise<readonly string[]>

beforeAll(async () => {
  places = await startMachinesPlaces()
  const { table } = await places.open()
  s3 = await startVersionedS3()
  const aws = places.aws
  const stores = {
    runs: (core: Parameters<typeof openRunStore>[0]) => openRunStore(core, aws),
    graph: (core: Parameters<typeof openGraphStore>[0]) => openGraphStore(core, aws),
    waits: (core: Parameters<typeof openWaits>[0]) => openWaits(core, aws),
    triggers: (core: Parameters<typeof openTriggers>[0]) => openTriggers(core, aws),
  }
  place = await startEntries({ table, aws, stores, s3 })
  const client = new DynamoDBClient(aws)
  const ids = { random: (bytes: number) => randomBytes(bytes) }
  runs = runStoreOn({ client, table, clock: lambdaClock, ids })
  scan = async () => {
    const { Items = [] } = await client.send(new ScanCommand({ TableName: table }))
    return Items.map((item) =>
      JSON.stringify(item, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value)),
    )
  }
})
afterAll(async () => {
  await place.close()
  await places.close()
})

const DOCUMENT = {
  name: 'telling',
  inputs: { topic: { type: 'string', search: true } },
  blocks: [
    {
      id: 'write',
      outputs: { text: { type: 'string', search: true } },
      agent: { provider: 'local', model: 'outline', prompt: `${SECRET} prompt {{inputs.topic}}` },
    },
    {
      id: 'keep',
      mode: 'deterministic',
      inputs: { body: { from: 'write.text' } },
      outputs: { note: 'artifact' },
      deterministic: { handler: 'write-artifact', config: { name: 'note.md' } },
      approval: { prompt: `${SECRET} question`, show: ['body'] },
    },
  ],
}

async function tell(topic: string): Promise<string> {
  const { status, json } = await place.call('start-run', undefined, {
    dag: JSON.stringify(DOCUMENT),
    inputs: { topic },
    context: { more: `${SECRET} context` },
    labels: { about: `${SECRET} label` },
  })
  expect([status, json.detail]).toEqual([201, undefined])
  const run = String(json.run_id)
  const asked = await until(run, 'approval:requested')
  const digest = asked?.type === 'approval:requested' ? asked.data.digest : ''
  const decision = { decision: 'approve', digest, feedback: `${SECRET} feedback` }
  expect((await place.call('decide-approval', run, decision)).status).toBe(200)
  await until(run, 'run:completed')
  const labels = { set: { about: `${SECRET} other label`, [SECRET]: 'key' } }
  expect((await place.call('add-note', run, { text: `${SECRET} note`, labels })).status).toBe(201)
  expect((await place.call('add-note', run, { labels: { remove: [SECRET] } })).status).toBe(201)
  await expect.poll(() => found(`${SECRET} prompt`), { timeout: 60_000 }).toContain(run)
  return run
}

async function found(q: string): Promise<readonly string[]> {
  const asked = { ...routeEvent(undefined, undefined), queryStringParameters: { q } }
  const answer = await place.lambda.invoke(lambdaArn('search-runs'), asked)
  const json = JSON.parse((answer as { readonly body: string }).body)
  return json.runs.map(({ run_id }: { readonly run_id: string }) => run_id)
}

async function until(run_id: string, type: RunEvent['type']): Promise<RunEvent | undefined> {
  const find = async () =>
    (await runs.events({ tenant: 'main', run_id }, 0, 1_000)).find((event) => event.type === type)
  await expect.poll(find, { timeout: 60_000 }).toBeDefined()
  return find()
}

async function erase(run: string): Promise<void> {
  await expect
    .poll(async () => (await place.call('erase-run', run, { reason: 'They asked for it' })).status, { timeout: 60_000 })
    .toBe(202)
  const step = async () => {
    await place.lambda.invoke(lambdaArn('keep-or-erase'), { tenant: 'main', run_id: run })
    return (await place.call('get-erasure', run)).json.erasure.step
  }
  await expect.poll(step, { timeout: 90_000, interval: 1_000 }).toBe('erased')
}

test('nothing of an erased run is found in any item or any version of any object; what another run names stays, until that is erased', async () => {
  const [first, second] = [await tell(`${SECRET} input`), await tell(`${SECRET} input`)]
  expect((await place.call('record-run', first)).status).toBe(200)
  await erase(first)
  expect((await place.call('get-run', first)).status).toBe(410)
  expect((await place.call('get-run', second)).status).toBe(200)
  expect(await found(SECRET)).toEqual([second])
  const output = await place.call('get-outputs', second, undefined, { block_id: 'write' })
  expect(JSON.stringify(output.json)).toContain(SECRET)
  const { erasure } = (await place.call('get-erasure', first)).json
  expect(erasure.bodies.kept).toBeGreaterThan(0)
  await erase(second)
  const hasSecret = (text: string) => text.toLowerCase().includes(SECRET.toLowerCase())
  const items = await scan()
  expect(items.filter(hasSecret)).toEqual([])
  expect(s3.bodies().filter(({ body }) => hasSecret(body.toString('latin1')))).toEqual([])
  // Its mark, and that no run of its id is made again: no list has its name.
  const named = items.filter((item) => item.includes(first)).map((item) => JSON.parse(item).sk.S)
  expect(named.toSorted()).toEqual(['CTX', 'MARK'])
})
