import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../../shared/text/json.ts'
import { TriggerSettingsSchema } from '../../shared/triggers/settings.ts'
import { signMessage } from '../../shared/triggers/verify-message.ts'
import { CHAIN_DOCUMENTS, triggerChainSuite } from '../conformance/trigger-chain-suite.ts'
import { triggerWeekSuite, WEEK_DOCUMENT } from '../conformance/trigger-week-suite.ts'
import { slackSettings } from '../integration/aws/slack-settings.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'
import { openVirtualTime } from './virtual-time.ts'

/** Triggers on the deployed application: bundles, roles, routes, rules and schedules of the templates. */
const SECRET_ARN = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:sluice/hook-AbCdEf'
const SECRET = 'a shared secret'
const BLOCK =
  "{ id: a, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }"
const DOCUMENT = `name: report
inputs: { day: json }
blocks: [${BLOCK}]
triggers:
  - { name: nightly, schedule: { cron: "0 6 * * *", timezone: Europe/Berlin, catch_up: last }, inputs: { day: "{% $now() %}" } }
  - { name: hook, webhook: { verify: { hmac: { header: x-signature, secret: crm_hook } }, dedupe: body.id, map: { day: body.day } } }
  - { name: on-order, event: { name: order.created, match: "detail.n > 1", map: { day: detail.n } } }
`
const ORDERS = `name: orders
inputs: { file: { type: file }, key: { type: string, default: '' } }
blocks:
  - { id: a, mode: deterministic, inputs: { file: file }, deterministic: { handler: read-input }, outputs: { text: string } }
triggers:
  - { name: dropped, object: { prefix: inbox/, suffix: .csv, max_bytes: 100, map: { file: object.ref, key: object.key } } }
`
const HOUR_MS = 3_600_000

const time = openVirtualTime()
let project: string
let made: Synthesized
let place: Deployment
let caller: Caller
/** What was asked only to see that it is not allowed. */
const refused: string[] = []

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'sluice-triggers-'))
  mkdirSync(join(project, 'dags'))
  writeFileSync(join(project, 'dags/report.yaml'), DOCUMENT)
  writeFileSync(join(project, 'dags/weekly.yaml'), WEEK_DOCUMENT)
  writeFileSync(join(project, 'dags/orders.yaml'), ORDERS)
  for (const [name, text] of Object.entries(CHAIN_DOCUMENTS)) writeFileSync(join(project, `dags/${name}.yaml`), text)
  const { slack: _, ...settings } = slackSettings()
  const triggers = TriggerSettingsSchema.parse({ secrets: { crm_hook: { secret: SECRET_ARN } } })
  made = await synthesize({}, { ...settings, triggers }, 'bundled', project)
  place = await deploy(made.out, { [SECRET_ARN]: SECRET }, undefined, undefined, time)
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close(refused)
  made?.remove()
  rmSync(project, { recursive: true, force: true })
})

interface Listed {
  readonly run_id: string
  readonly starter: string
}

const runsOf = async (trigger: string): Promise<readonly Listed[]> => {
  const { json } = await caller.call('GET', '/api/dag/runs?limit=500')
  return (json.runs as readonly Listed[]).filter(({ starter }) => starter === `trigger:${trigger}`)
}
const contextOf = async ({ run_id }: Listed) =>
  (await caller.call('GET', `/api/dag/runs/${run_id}/context`)).json.values
const look = () => place.sandboxes('fire-triggers').invoke({})

test('each schedule is one of EventBridge Scheduler, whose role may call fire-triggers and nothing else; a rule looks each minute', async () => {
  const schedules = place.templates.all('AWS::Scheduler::Schedule')
  expect(schedules).toHaveLength(4)
  expect(schedules.slice(0, 1).map(({ properties }) => properties)).toMatchObject([
    {
      Name: expect.stringMatching(/^sluice-dev-report-nightly-[0-9a-f]{8}$/),
      ScheduleExpression: 'cron(0 6 * * ? *)',
      ScheduleExpressionTimezone: 'Europe/Berlin',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: { Input: '{}', RetryPolicy: { MaximumRetryAttempts: 5 } },
    },
  ])
  const [schedule = { properties: { Target: {} } }] = schedules
  const { Arn, RoleArn } = schedule.properties.Target as { readonly Arn: string; readonly RoleArn: string }
  expect(place.allows(RoleArn, { action: 'lambda:InvokeFunction', resource: Arn })).toBe(true)
  const other = Arn.replace('fire-triggers', 'start-run')
  expect(place.allows(RoleArn, { action: 'lambda:InvokeFunction', resource: other })).toBe(false)
  refused.push(`${RoleArn}: lambda:InvokeFunction on ${other}`)
  const alarms = place.templates.all('AWS::CloudWatch::Alarm').map(({ properties }) => String(properties.AlarmName))
  expect(alarms).toEqual(expect.arrayContaining(['sluice-dev-TriggersFailed', 'sluice-dev-SilentTriggers']))
})

test('a time starts one run, however often and by whomever it is looked at; after a standstill the last is made up for', async () => {
  await look()
  expect(await runsOf('nightly')).toEqual([])
  const { json } = await caller.call('GET', '/api/triggers/report/nightly')
  const [first = '', second = ''] = json.next_times as string[]
  time.pass(Date.parse(first) - time.clock.now() + 1_000)
  await Promise.all([look(), look(), look()])
  await look()
  const [run, ...more] = await runsOf('nightly')
  expect(more).toEqual([])
  expect(await contextOf(run as Listed)).toEqual({ day: first })
  expect((await caller.until((run as Listed).run_id, isEnd)).at(-1)?.type).toBe('run:completed')
  // Three days nobody looks.
  time.pass(Date.parse(second) - time.clock.now() + 49 * HOUR_MS)
  await look()
  await look()
  expect(await runsOf('nightly')).toHaveLength(2)
  const shown = await caller.call('GET', '/api/triggers')
  const triggers = shown.json.triggers as readonly { readonly name: string }[]
  expect(triggers.find(({ name }) => name === 'nightly')).toMatchObject({ missed: { count: 2 }, failures: 0 })
})

test('a webhook: nobody signs but its sender, one message is one run, and what is forged is refused', async () => {
  const post = async (body: string, signature: string) => {
    const headers = { 'content-type': 'application/json', 'x-signature': signature }
    const answer = await fetch(`${place.api.url}/api/hooks/report/hook`, { method: 'POST', headers, body })
    return { status: answer.status, json: (await answer.json()) as Record<string, string> }
  }
  const signed = (body: string) =>
    post(body, signMessage({ algorithm: 'sha256', encoding: 'hex', prefix: '' }, SECRET, Buffer.from(body)))
  expect(await post('{"id":"a"}', 'forged')).toMatchObject({ status: 401, json: { code: 'not_verified' } })
  const answers = await Promise.all(Array.from({ length: 4 }, () => signed('{"id":"a","day":7}')))
  expect(new Set(answers.map(({ status, json }) => `${status} ${json.run_id}`)).size).toBe(1)
  const run = answers[0]?.json.run_id ?? ''
  await expect.poll(async () => (await runsOf('hook')).map(({ run_id }) => run_id), { timeout: 30_000 }).toEqual([run])
  expect(await contextOf({ run_id: run, starter: '' })).toEqual({ day: 7 })
  expect(await signed('{"id":"a","day":8}')).toMatchObject({ status: 202, json: { status: 'known', run_id: run } })
})

test('an event of outside starts a run where it matches; a pause keeps it from that; by hand one starts all the same', async () => {
  await look()
  await caller.call('POST', '/api/events', { name: 'order.created', payload: { n: 2 }, id: 'two' })
  await caller.call('POST', '/api/events', { name: 'order.created', payload: { n: 1 }, id: 'one' })
  await expect.poll(async () => (await runsOf('on-order')).length, { timeout: 30_000 }).toBe(1)
  expect(await contextOf((await runsOf('on-order'))[0] as Listed)).toEqual({ day: 2 })
  const path = '/api/triggers/report/on-order'
  expect(await caller.call('PATCH', path, { paused: true })).toMatchObject({ status: 200, json: { changed: true } })
  await caller.call('POST', '/api/events', { name: 'order.created', payload: { n: 3 }, id: 'three' })
  await look()
  expect(await runsOf('on-order')).toHaveLength(1)
  expect(await caller.call('POST', `${path}/try`, { body: { n: 9 } })).toMatchObject({
    json: { ok: true, inputs: { day: 9 } },
  })
  expect(await caller.call('POST', `${path}/fire`, { body: { n: 9 } })).toMatchObject({ status: 202 })
  await expect.poll(async () => (await runsOf('on-order')).length, { timeout: 30_000 }).toBe(2)
})

test('what is dropped: a bucket of its own, a rule a document for its keys, a function that reads nothing of runs', async () => {
  const [rule, ...more] = place.templates
    .all('AWS::Events::Rule')
    .filter(({ properties }) => JSON.stringify(properties.EventPattern ?? '').includes('aws.s3'))
  const Bucket = place.drops?.bucket ?? ''
  expect(more).toEqual([])
  expect(rule?.properties).toMatchObject({
    EventPattern: {
      source: ['aws.s3'],
      'detail-type': ['Object Created'],
      detail: { bucket: { name: [Bucket] }, object: { key: [{ wildcard: 'inbox/*.csv' }] } },
    },
    Targets: [{ RetryPolicy: { MaximumRetryAttempts: 10 } }],
  })
  const [target] = (rule?.properties.Targets ?? []) as readonly { readonly Arn: string }[]
  expect(target?.Arn).toMatch(/:sluice-dev-take-object$/)
  const [told] = place.templates
    .all('AWS::S3::Bucket')
    .filter(({ properties }) => properties.BucketName === Bucket)
    .map(({ properties }) => properties)
  expect(told).toMatchObject({
    NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
    VersioningConfiguration: { Status: 'Enabled' },
    PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
  })
  const client = new S3Client(place.drops?.config ?? {})
  const put = async (Key: string, Body: string) =>
    (await client.send(new PutObjectCommand({ Bucket, Key, Body }))).VersionId ?? ''
  const take = (key: string, version: string) =>
    place.sandboxes('take-object').invoke({
      source: 'aws.s3',
      'detail-type': 'Object Created',
      time: new Date(time.clock.now()).toISOString(),
      detail: { bucket: { name: Bucket }, object: { key, 'version-id': version, sequencer: '0' } },
    })
  const first = await put('inbox/a.csv', 'one')
  const second = await put('inbox/a.csv', 'two')
  const large = await put('inbox/large.csv', 'n'.repeat(101))
  // In any order, and twice.
  await Promise.all([take('inbox/a.csv', second), take('inbox/a.csv', second), take('inbox/large.csv', large)])
  for (const version of [first, second]) await take('inbox/a.csv', version)
  await expect.poll(async () => (await runsOf('dropped')).length, { timeout: 30_000 }).toBe(2)
  await look()
  const runs = await runsOf('dropped')
  expect(runs).toHaveLength(2)
  const read = await Promise.all(
    runs.map(async ({ run_id }) => {
      expect((await caller.until(run_id, isEnd)).at(-1)?.type).toBe('run:completed')
      const { json } = await caller.call('GET', `/api/dag/runs/${run_id}/outputs/a`)
      return JSON.stringify(json)
    }),
  )
  for (const text of ['one', 'two']) expect(read.some((outputs) => outputs.includes(text))).toBe(true)
  const { json } = await caller.call('GET', '/api/triggers/orders/dropped')
  const found = json.firings as readonly { readonly state: string; readonly reason?: { readonly code: string } }[]
  expect(found.map(({ state, reason }) => reason?.code ?? state).toSorted()).toEqual([
    'object_too_large',
    'started',
    'started',
  ])
  client.destroy()
})

triggerChainSuite('the deployed application', async () => ({
  pass: async (seconds) => time.pass(seconds * 1_000),
  look,
  async call(method, path, body) {
    const { status, json, text } = await caller.call(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return json
  },
  async contexts(trigger) {
    const runs = await runsOf(trigger)
    return new Map(await Promise.all(runs.map(async (run) => [run.run_id, (await contextOf(run)) as Json] as const)))
  },
  close: async () => undefined,
}))

triggerWeekSuite('the deployed application', async () => ({
  now: () => time.clock.now(),
  goTo: async (at) => time.pass(at - time.clock.now()),
  look,
  async days(trigger) {
    const found = await Promise.all((await runsOf(trigger)).map(contextOf))
    return found.map((values) => (values as { readonly day: string }).day)
  },
  async missed(trigger) {
    const { json } = await caller.call('GET', `/api/triggers/weekly/${trigger}`)
    return (json.trigger as { readonly missed?: { readonly count: number } }).missed?.count ?? 0
  },
  close: async () => undefined,
}))
