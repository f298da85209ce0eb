import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { App } from 'aws-cdk-lib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildApp } from '../../infra/aws/build-app.ts'
import { readDeploySettings } from '../../infra/aws/deploy-settings.ts'
import { readDeployedDags } from '../../infra/aws/deployed-dags.ts'
import { stageNames } from '../../infra/aws/names.ts'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { ROOT } from '../integration/aws/assembly.ts'
import { bundled } from '../integration/aws/bundled.ts'
import { cdkContext } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/**
 * A deployment over one that is at work: another text of a document, and other code in run-block, which says so when it
 * is loaded. One run at a time, so that a second one waits in the queue over the deployment.
 */
const NEW_CODE = 'code of the second release'

const block = (id: string, more: string) =>
  `  - id: ${id}\n    outputs: { text: { type: string } }\n    agent: { provider: local, model: outline, prompt: Plan a garden }\n${more}`
const APPROVAL = '    approval: { required: true, prompt: "Go on?", timeout_sec: 86400 }\n'
const FIRST = `name: changing\nblocks:\n${block('dig', '')}${block('plant', `    inputs: { from_dig: { from: dig.text } }\n${APPROVAL}`)}`
const SECOND = `name: changing\nblocks:\n${block('measure', '')}${block('build', '    inputs: { plan: { from: measure.text } }\n')}`

let folder: string
/** Cloud assembly of the second release. */
let next: string
let place: Deployment
let caller: Caller

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-releases-'))
  next = await synthesize('second', SECOND)
  place = await deploy(await synthesize('first', FIRST))
  caller = callerOf(place.api.url)
}, 300_000)
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})

async function synthesize(name: string, document: string): Promise<string> {
  const dir = join(folder, name)
  mkdirSync(join(dir, 'dags'), { recursive: true })
  writeFileSync(join(dir, 'dags/changing.yaml'), document)
  const app = new App({ outdir: join(dir, 'out'), analyticsReporting: false, context: cdkContext() })
  const settings = readStageSettings(ROOT, { stage: 'dev' })
  const one = { ...settings, safety: { ...settings.safety, max_runs: 1, queue: true } }
  const dags = readDeployedDags(join(dir, 'dags'), dir)
  const { built } = await bundled({ settings: one, dags, names: stageNames('dev') })
  cpSync(built, join(dir, 'functions'), { recursive: true })
  if (document === SECOND) change(join(dir, 'functions/run-block/index.mjs'))
  const deployment = readDeploySettings((key) => app.node.tryGetContext(key))
  buildApp({ app, deploy: deployment, settings: one, dags, built: dir })
  app.synth()
  return join(dir, 'out')
}

function change(file: string): void {
  writeFileSync(file, `console.log(${JSON.stringify(NEW_CODE)})\n${readFileSync(file, 'utf8')}`)
}

const asked = ({ type }: RunEvent) => type === 'approval:requested'
const blocksOf = (events: readonly RunEvent[]) =>
  events.flatMap(({ type, block_id }) => (type === 'block:completed' ? [block_id] : []))
async function approved(id: string): Promise<readonly RunEvent[]> {
  const events = await caller.until(id, asked)
  expect((await caller.decide(id, events.find(asked), 'approve')).status).toBe(200)
  return caller.until(id, isEnd)
}
const isNew = () => place.sandboxes('run-block').logs.join('').includes(NEW_CODE)

async function retry(id: string): Promise<string> {
  const { status, json } = await caller.call('POST', `/api/dag/runs/${id}/retry`, { from_block: 'plant' })
  expect([status, json.retry_of]).toEqual([201, id])
  return String(json.run_id)
}

/** Of the first release, ended. */
let earlier: string

test('runs that were there before a deployment end on their text with the new code; later ones, and retries, on theirs', async () => {
  const waiting = await caller.start({ name: 'changing' })
  await caller.until(waiting, asked)
  const queued = await caller.start({ name: 'changing' })
  expect(isNew()).toBe(false)

  await place.update(next)

  const first = await approved(waiting)
  expect([first.at(-1)?.type, blocksOf(first)]).toEqual(['run:completed', ['dig', 'plant']])
  expect(isNew()).toBe(true)

  const second = await approved(queued)
  expect([second.at(-1)?.type, blocksOf(second)]).toEqual(['run:completed', ['dig', 'plant']])

  const later = await caller.start({ name: 'changing' })
  const third = await caller.until(later, isEnd)
  expect([third.at(-1)?.type, blocksOf(third)]).toEqual(['run:completed', ['measure', 'build']])

  const again = await approved(await retry(waiting))
  expect([again.at(-1)?.type, blocksOf(again)]).toEqual(['run:completed', ['dig', 'plant']])
  // The stage has no machine of that text any more: start-run made one of the document.
  expect(place.states.calls.filter((name) => name === 'CreateStateMachine')).toHaveLength(2 + 1)
  expect(place.denied).toEqual([])
  earlier = waiting
}, 240_000)

test('the machine of a retry goes when nothing needs it, not while it is at work, and the next retry makes it again', async () => {
  const clear = () => place.sandboxes('clear-machines').invoke({})
  const id = await retry(earlier)
  await caller.until(id, asked)
  expect(await forgetUses()).toBe(1)
  expect(await clear()).toEqual({ removed: 0 })
  expect((await approved(id)).at(-1)?.type).toBe('run:completed')
  await expect.poll(() => place.states.running()).toBe(0)
  await forgetUses()
  expect(await clear()).toEqual({ removed: 1 })
  expect(place.states.calls.filter((name) => name === 'DeleteStateMachine')).toHaveLength(1)
  expect(await forgetUses()).toBe(0)
  expect((await approved(await retry(earlier))).at(-1)?.type).toBe('run:completed')
  expect(place.denied).toEqual([])
}, 240_000)

/** As if no machine of an inline document had been used for years; answers how many there are. */
async function forgetUses(): Promise<number> {
  const client = new DynamoDBClient(place.dynamodb.aws)
  const names = { '#pk': 'pk' }
  const all = { KeyConditionExpression: '#pk = :pk', ExpressionAttributeValues: { ':pk': { S: 'MACHINES' } } }
  const { Items = [] } = await client.send(
    new QueryCommand({ TableName: 'sluice-dev', ExpressionAttributeNames: names, ...all }),
  )
  for (const { pk, sk } of Items) {
    if (pk === undefined || sk === undefined) continue
    const long = { UpdateExpression: 'SET used_at = :at', ExpressionAttributeValues: { ':at': { N: '0' } } }
    await client.send(new UpdateItemCommand({ TableName: 'sluice-dev', Key: { pk, sk }, ...long }))
  }
  client.destroy()
  return Items.length
}
