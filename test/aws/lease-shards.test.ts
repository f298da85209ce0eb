import { type AttributeValue, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { ROOT } from '../integration/aws/assembly.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { HOLDS } from '../integration/safety/safety-place.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/**
 * A stage whose pool of active runs is several items (docs/adr/0086), filled to its cap: shard 0 has room for 32 and shard 1
 * for 4, so that some runs find their home full, lie elsewhere, and are looked for everywhere by whoever takes or gives back.
 */
const CAP = 36
const WAITING = 6
let made: Synthesized
let place: Deployment
let caller: Caller
let table: DynamoDBClient

beforeAll(async () => {
  const { safety, ...shipped } = readStageSettings(ROOT, { stage: 'dev' })
  made = await synthesize(
    {},
    { ...shipped, safety: { ...safety, max_runs: CAP, max_requests_per_min: 10_000, queue: true } },
  )
  place = await deploy(made.out)
  caller = callerOf(place.api.url)
  table = new DynamoDBClient(place.dynamodb.aws)
}, 240_000)
afterAll(async () => {
  table?.destroy()
  await place?.close()
  made?.remove()
})

const safety = async () => (await caller.call('GET', '/api/dag/safety')).json
const counts = async () => {
  const { active_runs, queued_runs } = await safety()
  return { active_runs, queued_runs }
}

/** How many leases each item of the pool of runs has, shard 0 first. */
async function shardSizes(): Promise<readonly number[]> {
  const { Items = [] } = await table.send(new ScanCommand({ TableName: 'sluice-dev', ConsistentRead: true }))
  const ofPool = ({ pk, sk }: Record<string, AttributeValue>) =>
    (pk?.S === 'T#main' && sk?.S === 'LEASES') || pk?.S === 'T#main#LEASES#runs'
  const shards = Items.filter(ofPool).toSorted((a, b) => ((a.sk?.S ?? '') > 'L' ? -1 : (b.sk?.S ?? '') > 'L' ? 1 : 0))
  return shards.map(({ leases }) => Object.keys(leases?.M ?? {}).length)
}

const ids: string[] = []
const waits = ({ type }: RunEvent) => type === 'block:waiting'

test('as many runs as the cap are active, in a shard of 32 and one of the rest; what comes then waits its turn', async () => {
  // One first: it makes the machine, which the others find.
  ids.push(await caller.start({ dag: HOLDS }))
  const rest = Array.from({ length: CAP + WAITING - 1 }, () => caller.start({ dag: HOLDS }))
  ids.push(...(await Promise.all(rest)))
  await expect.poll(counts, { timeout: 30_000 }).toEqual({ active_runs: CAP, queued_runs: WAITING })
  expect(await shardSizes()).toEqual([32, CAP - 32])
})

test('a run that ends gives its place to one that waits, wherever the lease lay', async () => {
  const active = await activeOf(ids)
  expect(active).toHaveLength(CAP)
  // More than one shard has: some of these lie in each.
  for (const id of active.slice(0, WAITING)) {
    await caller.until(id, waits)
    expect((await caller.call('POST', `/api/dag/runs/${id}/stop`, {})).status).toBe(200)
    expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:cancelled')
  }
  await expect.poll(counts, { timeout: 30_000 }).toEqual({ active_runs: CAP, queued_runs: 0 })
  expect(await shardSizes()).toEqual([32, CAP - 32])
  const begun = await Promise.all(ids.map((id) => caller.until(id, waits)))
  expect(begun).toHaveLength(CAP + WAITING)
})

async function activeOf(all: readonly string[]): Promise<readonly string[]> {
  const shown = await Promise.all(all.map((id) => caller.call('GET', `/api/dag/runs/${id}`)))
  const states = shown.map(({ json }) => (json.run as { readonly state: string }).state)
  return all.filter((_, i) => states[i] !== 'pending')
}

test('stop-all leaves no lease in any shard', async () => {
  const stopped = await caller.call('POST', '/api/dag/runs/stop-all', { reason: 'over' })
  expect(stopped).toMatchObject({ status: 200, json: { stopped: CAP } })
  await expect.poll(counts, { timeout: 30_000 }).toEqual({ active_runs: 0, queued_runs: 0 })
  expect(await shardSizes()).toEqual([0, 0])
})

test('no function wanted what its role does not allow', async () => {
  await place.lambda.settled()
  expect(place.api.errors).toEqual([])
  expect(place.denied).toEqual([])
})
