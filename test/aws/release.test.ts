import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildApp } from '../../infra/aws/build-app.ts'
import { readDeploySettings } from '../../infra/aws/deploy-settings.ts'
import { readDeployedDags } from '../../infra/aws/deployed-dags.ts'
import { functionsIn } from '../../infra/aws/function-sizes.ts'
import { stageNames } from '../../infra/aws/names.ts'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { sluice } from '../e2e/run-cli.ts'
import { REGION } from '../emulators/aws-client.ts'
import { ROOT } from '../integration/aws/assembly.ts'
import { bundled } from '../integration/aws/bundled.ts'
import { cdkContext } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'
import { openVirtualTime } from './virtual-time.ts'

/**
 * A gradual release, end to end on the emulators: a second build is deployed over a first one and nothing changes, then it is
 * shifted, taken back by command and by an alarm. Which build works for a run is seen in what its machine calls.
 */
const block = (id: string, more = '') =>
  `  - id: ${id}\n    outputs: { text: { type: string } }\n    agent: { provider: local, model: outline, prompt: Plan a garden }\n${more}`
const APPROVAL = '    approval: { required: true, prompt: "Go on?", timeout_sec: 86400 }\n'
const asking = (first: string) => `name: asking\nblocks:\n${block(first)}${block('plant', APPROVAL)}`
const QUICK = `name: quick\nblocks:\n${block('dig')}`
const INLINE = `name: inline\nblocks:\n${block('dig')}${block('sow', '    inputs: { of: { from: dig.text } }\n')}`

let folder: string
let place: Deployment
let caller: Caller
let next: string
const time = openVirtualTime()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-gradual-'))
  writeFileSync(join(folder, 'cdk.json'), JSON.stringify({ context: { 'sluice:stage': 'dev' } }))
  next = await synthesize('second', asking('measure'))
  place = await deploy(await synthesize('first', asking('dig')), {}, undefined, undefined, time)
  caller = callerOf(place.api.url)
}, 900_000)
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})

async function synthesize(name: string, document: string): Promise<string> {
  const dir = join(folder, name)
  mkdirSync(join(dir, 'dags'), { recursive: true })
  writeFileSync(join(dir, 'dags/asking.yaml'), document)
  writeFileSync(join(dir, 'dags/quick.yaml'), QUICK)
  const context = { ...cdkContext(), 'sluice:release': 'gradual' }
  const app = new App({ outdir: join(dir, 'out'), analyticsReporting: false, context })
  const settings = readStageSettings(ROOT, { stage: 'dev' })
  const dags = readDeployedDags(join(dir, 'dags'), dir)
  const { built } = await bundled({ settings, dags, names: stageNames('dev') })
  cpSync(built, join(dir, 'functions'), { recursive: true })
  for (const line of functionsIn('machine')) {
    const file = join(dir, 'functions', line.name, 'index.mjs')
    writeFileSync(file, `globalThis.release = '${name}'\n${readFileSync(file, 'utf8')}`)
  }
  buildApp({ app, deploy: readDeploySettings((key) => app.node.tryGetContext(key)), settings, dags, built: dir })
  app.synth()
  return join(dir, 'out')
}

const asked = ({ type }: RunEvent) => type === 'approval:requested'
const blocksOf = (events: readonly RunEvent[]) =>
  events.flatMap(({ type, block_id }) => (type === 'block:completed' ? [block_id] : []))

/** Versions of functions that the machine of a run called. */
function calledFor(run: string): readonly (string | undefined)[] {
  const arns = place.deliveries.filter(({ run_id }) => run_id === run).map(({ arn }) => arn)
  return [...new Set(arns.map((arn) => arn.split(':')[7]))]
}

async function finished(body: object): Promise<readonly (string | undefined)[]> {
  const id = await caller.start(body)
  expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
  return calledFor(id)
}

const command = (...args: readonly string[]) =>
  sluice(['rollout', ...args, '--stage', 'dev', '--region', REGION], {
    cwd: folder,
    env: {
      AWS_ENDPOINT_URL_LAMBDA: place.lambda.aws.endpoint,
      AWS_ENDPOINT_URL_DYNAMODB: place.dynamodb.aws.endpoint,
      AWS_ACCESS_KEY_ID: place.dynamodb.aws.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: place.dynamodb.aws.credentials.secretAccessKey,
      AWS_CONFIG_FILE: '/nowhere',
      AWS_SHARED_CREDENTIALS_FILE: '/nowhere',
    },
  })
const status = async () => JSON.parse((await command('status', '--json')).out)
/** Longer than a process of start-run believes what it read. */
const believed = () => time.pass(11_000)
const twenty = () => Promise.all(Array.from({ length: 20 }, () => finished({ name: 'quick' })))

let waiting: string
let first: string

test('a deployment publishes a release, and no run begins with it until it is shifted', async () => {
  waiting = await caller.start({ name: 'asking' })
  await caller.until(waiting, asked)
  expect(calledFor(waiting)).toEqual(['1'])
  const before = await status()
  expect(before.routing).toMatchObject({ percent: 100, to: before.deployed, by: 'first start' })
  first = before.deployed.id

  await place.update(next)

  expect(await finished({ name: 'quick' })).toEqual(['1'])
  expect(await finished({ dag: INLINE })).toEqual(['1'])
  const after = await status()
  expect(after.deployed.id).not.toBe(first)
  expect(after.routing).toEqual(before.routing)
  expect((await command('status')).out).toMatch(/no run begins with it until it is shifted/)
}, 240_000)

test('a shift draws once a run: each keeps the release it began with, documents of either deployment and inline ones too', async () => {
  const shifted = await command('shift', '50', '--yes')
  expect([shifted.code, shifted.out]).toEqual([
    0,
    expect.stringMatching(`50 of 100 begin with .*, the others with ${first}`),
  ])
  believed()
  const drawn = await twenty()
  expect(drawn.every((versions) => versions.length === 1)).toBe(true)
  expect([...new Set(drawn.flat())].toSorted()).toEqual(['1', '2'])

  expect((await command('shift', '100', '--yes')).code).toBe(0)
  believed()
  expect(await finished({ dag: INLINE })).toEqual(['2'])
  const later = await caller.start({ name: 'asking' })
  await caller.until(later, asked)
  expect(calledFor(later)).toEqual(['2'])

  const events = await caller.events(waiting)
  expect((await caller.decide(waiting, events.find(asked), 'approve')).status).toBe(200)
  expect(blocksOf(await caller.until(waiting, isEnd))).toEqual(['dig', 'plant'])
  expect(calledFor(waiting)).toEqual(['1'])
}, 240_000)

test('rollback gives new runs to the release before, without a deployment, and what was taken back is shifted again only on purpose', async () => {
  expect((await command('rollback', '--yes')).code).toBe(0)
  believed()
  expect(new Set((await twenty()).flat())).toEqual(new Set(['1']))
  const { deployed, routing } = await status()
  expect(routing).toMatchObject({ percent: 100, taken_back: deployed.id })
  expect(routing.to.id).toBe(first)
  // The document of the later deployment runs on the earlier functions.
  const id = await caller.start({ name: 'asking' })
  const events = await caller.until(id, asked)
  expect([blocksOf(events), calledFor(id)]).toEqual([['measure'], ['1']])

  const again = await command('shift', '10', '--yes')
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('release_taken_back')])
  const nothing = await command('rollback', '--yes')
  expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining('nothing_to_take_back')])
}, 240_000)

test('the alarm of the release takes it back, and whoever watches the shift is told', async () => {
  const alarm = { detail: { alarmName: 'sluice-dev-ReleaseFailureRate', state: { value: 'ALARM' } } }
  const shifting = command('shift', '100', '--again', '--yes', '--watch', '5')
  await expect.poll(async () => (await status()).routing.to.id, { timeout: 60_000 }).not.toBe(first)
  expect(await place.sandboxes('guard-release').invoke(alarm)).toEqual({ done: 'taken_back' })
  expect(await place.sandboxes('guard-release').invoke(alarm)).toEqual({ done: 'nothing' })
  const watched = await shifting
  expect([watched.code, watched.err]).toEqual([1, expect.stringContaining('was taken back')])
  believed()
  expect(await finished({ name: 'quick' })).toEqual(['1'])
  expect((await status()).routing).toMatchObject({ by: 'alarm sluice-dev-ReleaseFailureRate' })
}, 240_000)

test('prune deletes versions that no run began with, and none that one may call', async () => {
  const kept = await command('prune', '--yes')
  expect([kept.code, kept.out]).toEqual([0, expect.stringContaining('28 versions of functions; 0 of them')])
  // Of a deployment that nobody shifted to, long ago.
  const settle = place.versions['sluice-dev-settle'] ?? []
  settle.push({ Version: '3', Description: '', LastModified: '2026-01-01T00:00:00.000+0000' })
  for (const version of settle) version.LastModified = '2026-01-01T00:00:00.000+0000'
  const pruned = await command('prune', '--yes')
  expect([pruned.code, pruned.out]).toEqual([0, expect.stringMatching(/29 versions.*1 of them.*Deleted 1 version/s)])
  expect(settle.map(({ Version }) => Version)).toEqual(['1', '2'])
  expect(await finished({ name: 'quick' })).toEqual(['1'])
  expect(place.denied).toEqual([])
}, 60_000)
