import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { ServicesSettingsSchema } from '../../shared/services/settings.ts'
import type { Json } from '../../shared/text/json.ts'
import { ROOT } from '../integration/aws/assembly.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type LocalServer, serve } from '../integration/gates/guarded-servers.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'
import { readPolicies } from './iam-policy.ts'

/** Gates that act, on the synthesized application: net-gate and shell-gate are called over the wire, by role. */
const NO_SECRET = ['sh', '-c', 'test -z "$AWS_SECRET_ACCESS_KEY$AWS_ACCESS_KEY_ID$STAGE" && test -z "$(ls -A)"']
/** Of a service, and where its key lies. */
const KEY = 'canary-of-the-service'
const SECRET = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:sluice/crm-AbCdEf'
/** The least there may be. */
const QUOTA = 1_048_576
let made: Synthesized
let place: Deployment
let caller: Caller
let crm: LocalServer
const sent: Readonly<Record<string, unknown>>[] = []

beforeAll(async () => {
  crm = await serve((request, response) => {
    const { authorization, 'idempotency-key': once } = request.headers
    sent.push({ method: request.method, url: request.url, authorization, once })
    const status = request.url === '/api/customers/8' ? 404 : 200
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ seen: authorization }))
  })
  const shipped = readStageSettings(ROOT, { stage: 'dev' })
  const safety = { ...shipped.safety, max_run_bytes: QUOTA, max_tenant_bytes: 100 * QUOTA }
  // Stage settings refuse that it is private; it stands on this machine.
  const services = ServicesSettingsSchema.parse({
    crm: { url: `${crm.url}/api`, private: true, key: { secret: SECRET } },
  })
  made = await synthesize({}, { ...shipped, safety, services, shell_gates: { allow: [NO_SECRET, ['false']] } })
  place = await deploy(made.out, { [SECRET]: KEY })
  caller = callerOf(place.api.url)
})
afterAll(async () => {
  await place.close()
  await crm.close()
  made.remove()
})

const dagWith = (checks: readonly Json[], more: object = {}) => ({
  name: 'gated',
  blocks: [
    {
      id: 'a',
      mode: 'deterministic',
      deterministic: { handler: 'transform', config: { expression: '"http://10.0.0.1/"' } },
      outputs: { link: 'string' },
      post_gates: checks.map((check, i) => ({ name: `g${i}`, check, on_fail: 'fail' })),
      ...more,
    },
  ],
})

async function ran(dag: object) {
  const events = await caller.until(await caller.start({ dag }), isEnd)
  const gates = events.filter(({ type }) => type === 'block:gate').map(({ data }) => data)
  return { gates, end: events.at(-1)?.type }
}

test('requests to addresses that are not public are refused by net-gate, with the reason in the verdict', async () => {
  const { gates, end } = await ran(
    dagWith([
      { type: 'http', port: 'link' },
      { type: 'http', url: 'http://169.254.170.2/v2/credentials' },
      { type: 'http', url: 'http://127.0.0.1/2018-06-01/runtime/invocation/next' },
      { type: 'webhook', url: 'http://[fd00:ec2::254]/latest/meta-data/', ports: ['link'] },
    ]),
  )
  expect(gates).toMatchObject([
    { status: 'failed', reason: expect.stringContaining('not public (private)') },
    { status: 'failed', reason: expect.stringContaining('metadata') },
    { status: 'failed', reason: expect.stringContaining('loopback') },
    { status: 'error', reason: expect.stringContaining('no global IPv6') },
  ])
  expect(end).toBe('run:failed')
  expect(place.sandboxes('net-gate').counts.started).toBeGreaterThan(0)
})

test('commands of the list run in shell-gate without environment; others do not get there', async () => {
  const passed = await ran(
    dagWith([
      { type: 'shell', command: NO_SECRET },
      { type: 'shell', command: ['false'], not: true },
    ]),
  )
  expect(passed).toMatchObject({ gates: [{ status: 'passed' }, { status: 'passed' }], end: 'run:completed' })
  const refused = await ran(dagWith([{ type: 'shell', command: 'env' }]))
  expect(refused.gates).toMatchObject([{ status: 'error', reason: expect.stringContaining('shell_gates.allow') }])
})

test('pre-gates act before a person is asked', async () => {
  const pre_gates = [{ name: 'g', check: { type: 'http', url: 'http://10.0.0.1/' }, on_fail: 'fail' }]
  const { gates, end } = await ran(dagWith([], { approval: true, pre_gates }))
  expect([gates, end]).toMatchObject([[{ status: 'failed', phase: 'pre' }], 'run:failed'])
})

test('what a run may store is bounded: a block that would pass it fails before it stores, with the figures', async () => {
  const config = { expression: '$pad("", 1100000, "x")' }
  const run_id = await caller.start({ dag: dagWith([], { deterministic: { handler: 'transform', config } }) })
  const events = await caller.until(run_id, isEnd)
  const failed = events.find(({ type }) => type === 'block:failed')
  expect(failed?.data).toMatchObject({ code: 'storage_quota' })
  const { json } = await caller.call('GET', `/api/dag/runs/${run_id}`)
  expect(json).toMatchObject({ run: { storage: { quota_bytes: QUOTA } } })
  const storedBytes = async () => Number((await caller.call('GET', '/api/dag/safety')).json.stored_bytes)
  const ofRuns = await storedBytes()
  expect(ofRuns).toBeGreaterThan(0)
  expect(ofRuns).toBeLessThan(QUOTA)
  // What a person brings counts to the tenant, when it is put and when it is only announced.
  expect((await caller.call('PUT', '/api/objects', { text: 'x'.repeat(1_000) })).status).toBeLessThan(300)
  const announced = await caller.call('POST', '/api/objects/upload', { sha256: 'a'.repeat(64), size: 5_000 })
  expect(announced.status, announced.text).toBeLessThan(300)
  expect((await storedBytes()) - ofRuns).toBeGreaterThanOrEqual(6_000)
})

const asking = (method: string) => ({
  name: 'asking',
  inputs: { id: { type: 'number' } },
  blocks: [
    {
      id: 'a',
      mode: 'deterministic',
      outputs: { status: 'number', body: 'json' },
      deterministic: { handler: 'http', config: { service: 'crm', method, path: '/customers/{{inputs.id}}' } },
    },
  ],
})

test('a block asks a service through net-gate, with the key that run-block alone reads from its secret', async () => {
  const id = await caller.start({ dag: asking('POST'), inputs: { id: 7 } })
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(sent).toEqual([
    { method: 'POST', url: '/api/customers/7', authorization: `Bearer ${KEY}`, once: `${id}/0/0/1/0` },
  ])
  const outputs = await caller.call('GET', `/api/dag/runs/${id}/outputs/a`)
  expect(outputs.json).toMatchObject({ outputs: { status: 200, body: { seen: 'Bearer [redacted]' } } })
  const refused = await caller.until(await caller.start({ dag: asking('GET'), inputs: { id: 8 } }), isEnd)
  expect(refused.find(({ type }) => type === 'block:failed')?.data).toMatchObject({ code: 'service_refused' })
  await place.lambda.settled()
  const logs = [...place.functions.values()].flatMap((sandboxes) => sandboxes.logs)
  const told = [...logs, JSON.stringify([events, refused]), (await caller.call('GET', '/api/config')).text]
  expect(told.filter((text) => text.includes(KEY))).toEqual([])
  const { grants } = readPolicies(place.templates)
  const readers = FUNCTIONS.filter(({ name }) => {
    return grants(`sluice-dev-${name}`, { action: 'secretsmanager:GetSecretValue', resource: SECRET }).length > 0
  })
  expect(readers.map(({ name }) => name)).toEqual(['run-block'])
})

test('every call was allowed by a role, and the roles of the gates allow nothing', async () => {
  await place.lambda.settled()
  expect(place.denied).toEqual([])
  const { grants } = readPolicies(place.templates)
  const arn = (name: string) => `arn:aws:lambda:eu-central-1:000000000000:function:sluice-dev-${name}`
  const may = (who: string, name: string) =>
    grants(`sluice-dev-${who}`, { action: 'lambda:InvokeFunction', resource: arn(name) }).length > 0
  expect(['net-gate', 'shell-gate'].map((name) => may('run-block', name))).toEqual([true, true])
  expect(['settle', 'start-run', 'net-gate', 'shell-gate'].filter((who) => may(who, 'net-gate'))).toEqual([])
  expect(['run-block', 'send-outbox', 'start-run'].filter((name) => may('shell-gate', name))).toEqual([])
})
