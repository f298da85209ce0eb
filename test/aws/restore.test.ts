import {
  type AttributeValue,
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { ROOT } from '../integration/aws/assembly.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/**
 * The runbook of docs/operate.md, "Restoring", on the emulated stacks. They have no point-in-time recovery: what the table
 * held at the moment is copied, as RestoreTableToPointInTime would.
 */
const RESTORED = 'sluice-dev-restored'

let place: Deployment
let caller: Caller
let restored: Synthesized
let tables: DynamoDBClient

beforeAll(async () => {
  place = await deploy(inject('assembly'))
  caller = callerOf(place.api.url)
  tables = new DynamoDBClient(place.dynamodb.aws)
  const { safety, ...shipped } = readStageSettings(ROOT, { stage: 'dev' })
  const settings = { ...shipped, safety: { ...safety, max_runs: 500, max_requests_per_min: 10_000 } }
  restored = await synthesize({ 'sluice:restore_from': RESTORED }, settings)
}, 400_000)
afterAll(async () => {
  restored.remove()
  tables.destroy()
  await place.close()
})

const work = { outputs: { text: { type: 'string' } }, agent: { provider: 'local', model: 'outline', prompt: 'Plan' } }
/** Work, a person's yes, work. */
const ASKING = {
  name: 'asking',
  blocks: [
    { id: 'before', ...work },
    { id: 'go', mode: 'approval', outputs: { decided_by: 'string' }, approval: { prompt: 'Go?', timeout_sec: 86_400 } },
    { id: 'after', ...work },
  ],
  edges: [
    { from: 'before', to: 'go' },
    { from: 'go', to: 'after' },
  ],
}
const asked = ({ type }: RunEvent) => type === 'approval:requested'
const approve = async (id: string) => caller.decide(id, (await caller.until(id, asked)).find(asked), 'approve')
const finished = async (id: string) => {
  expect((await approve(id)).status).toBe(200)
  expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
}
const verified = async (id: string) =>
  expect((await caller.call('GET', `/api/dag/runs/${id}/verify`)).json).toMatchObject({ ok: true })

/** Table by table, item by item: what a restore to this moment would hold. */
async function copyTable(): Promise<readonly Readonly<Record<string, AttributeValue>>[]> {
  const items: Record<string, AttributeValue>[] = []
  for await (const { Items = [] } of paginateScan(
    { client: tables },
    { TableName: 'sluice-dev', ConsistentRead: true },
  ))
    items.push(...Items)
  return items
}

async function restoreTable(items: Awaited<ReturnType<typeof copyTable>>): Promise<void> {
  const { Table } = await tables.send(new DescribeTableCommand({ TableName: 'sluice-dev' }))
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes = [] } = Table ?? {}
  const indexes = GlobalSecondaryIndexes.map((index) => {
    return { IndexName: index.IndexName, KeySchema: index.KeySchema, Projection: index.Projection }
  })
  const shape = { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes: indexes, BillingMode: 'PAY_PER_REQUEST' }
  await tables.send(new CreateTableCommand({ TableName: RESTORED, ...shape } as CreateTableCommandInput))
  for (const Item of items) await tables.send(new PutItemCommand({ TableName: RESTORED, Item }))
  await tables.send(new DeleteTableCommand({ TableName: 'sluice-dev' }))
}

test('a stage goes on from a table that was restored: ended runs read the same, runs under way are found and ended, and can be tried again', async () => {
  const ended = await caller.start({ dag: ASKING })
  await finished(ended)
  const waits = await caller.start({ dag: ASKING })
  const goesOn = await caller.start({ dag: ASKING })
  await Promise.all([waits, goesOn].map((id) => caller.until(id, asked)))
  const before = await caller.events(ended)
  const waiting = await caller.events(waits)

  // The moment that is restored. What happens after it is lost.
  const items = await copyTable()
  await finished(goesOn)
  const lost = await caller.start({ dag: ASKING })
  await caller.until(lost, asked)
  await restoreTable(items)
  await place.update(restored.out)

  expect(await caller.events(ended)).toEqual(before)
  await verified(ended)
  expect(await caller.events(waits)).toEqual(waiting)
  // It completed, and the record does not know.
  expect((await caller.events(goesOn)).some(isEnd)).toBe(false)
  expect((await caller.call('GET', `/api/dag/runs/${lost}`)).status).toBe(404)

  // The rule: what was under way at the moment is ended before anything starts.
  const stopped = await caller.call('POST', '/api/dag/runs/stop-all', { hold: true, reason: 'restored' })
  expect(stopped).toMatchObject({ status: 200, json: { stopped: 2, left: 0 } })
  for (const id of [waits, goesOn]) {
    expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:cancelled')
    await verified(id)
  }
  // Only that of the lost run waits still: no record knows it, so it is for whoever restores to stop it.
  await expect.poll(() => place.states.running()).toBe(1)
  expect((await caller.call('POST', '/api/dag/run', { dag: ASKING })).status).toBeGreaterThanOrEqual(400)
  expect((await caller.call('POST', '/api/dag/safety/release', {})).status).toBe(200)

  // Each is tried again: what had completed by the moment is taken over, a person is asked again.
  for (const id of [waits, goesOn]) {
    const { status, json } = await caller.call('POST', `/api/dag/runs/${id}/retry`, {})
    expect(status).toBe(201)
    const next = String(json.run_id)
    await finished(next)
    const { blocks } = (await caller.call('GET', `/api/dag/runs/${next}`)).json as {
      readonly blocks: Readonly<Record<string, { readonly cached_from?: string }>>
    }
    const cached = Object.entries(blocks).flatMap(([block, { cached_from }]) => (cached_from === id ? [block] : []))
    expect(cached).toEqual(['before'])
    await verified(next)
  }
  await finished(await caller.start({ dag: ASKING }))
  expect(place.api.errors).toEqual([])
}, 400_000)
