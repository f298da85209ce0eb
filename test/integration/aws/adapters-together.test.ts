import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDocuments, openModules } from '../../../functions/aws/documents.ts'
import { lambdaEntry, streamEntry } from '../../../functions/aws/entry.ts'
import { openOutbox } from '../../../functions/aws/function-calls.ts'
import { openMachine } from '../../../functions/aws/machine.ts'
import { openObjects } from '../../../functions/aws/objects.ts'
import { openDescribedSteps, openInputs, openWaker } from '../../../functions/aws/ports-without-sdk.ts'
import { openProviders } from '../../../functions/aws/providers.ts'
import type { PortOpeners } from '../../../functions/aws/world.ts'
import { createIsolate } from '../../../functions/isolate/isolate-pool.ts'
import { openRunStore } from '../../../infra/local/run-store/run-store.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { ROUTES } from '../../../shared/routes.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'
import { type EmulatedFunction, type LambdaEmulator, startLambda } from '../../emulators/lambda.ts'
import { installLambdaRuntime } from '../../emulators/lambda-runtime.ts'
import { type S3Emulator, startS3 } from '../../emulators/s3.ts'
import { type StepFunctionsEmulator, startStepFunctions } from '../../emulators/step-functions.ts'
import { lambdaArn } from './aws-settings.ts'
import { startMachinesPlaces } from './machines-place.ts'

/**
 * Every function of the catalog behind its Lambda entry, with exactly the ports of its line: objects, machine, outbox,
 * waker, providers and inputs of AWS over the wire; only the run store is the local one.
 */
const isolate = createIsolate()
const db = new DatabaseSync(':memory:')
const runs = openRunStore(db)
const functions: Record<string, EmulatedFunction> = {}
const runtime = installLambdaRuntime()
const streams: Record<string, unknown> = {}
let s3: S3Emulator
let lambda: LambdaEmulator
let states: StepFunctionsEmulator
let places: Awaited<ReturnType<typeof startMachinesPlaces>>

beforeAll(async () => {
  s3 = await startS3()
  lambda = await startLambda({ functions, timeoutMs: 30_000 })
  states = await startStepFunctions({ invoke: (arn, payload) => lambda.invoke(arn, payload) })
  places = await startMachinesPlaces()
  const { table } = await places.open()
  const openers: PortOpeners = {
    runs: () => runs,
    objects: (core) => openObjects(core, s3.config),
    machine: (core) => openMachine(core, states.aws, places.aws),
    outbox: (core) => openOutbox(core, lambda.aws),
    providers: openProviders,
    inputs: openInputs,
    documents: openDocuments,
    modules: openModules,
    steps: openDescribedSteps,
    isolate: () => isolate,
    waker: openWaker,
  }
  const arns = FUNCTIONS.map(({ name }) => [`${name.toUpperCase().replaceAll('-', '_')}_ARN`, lambdaArn(name)])
  const env = {
    STAGE: 'test',
    AWS_REGION: REGION,
    SLUICE_LOG: 'error',
    BUCKET: s3.bucket,
    TABLE: table,
    STATE_MACHINE_ROLE_ARN: `arn:aws:iam::${ACCOUNT}:role/sluice-test-machines`,
    ...Object.fromEntries(arns),
  }
  for (const { name, file, ports } of FUNCTIONS) {
    const { handler } = await import(/* @vite-ignore */ new URL(`../../../functions/${file}`, import.meta.url).href)
    const own = Object.fromEntries(Object.entries(openers).filter(([port]) => ports.includes(port)))
    const isStream = ROUTES.some((route) => route.name === name && route.stream === true)
    if (isStream) streams[name] = streamEntry({ name, handler, ports: own }, env)
    else functions[`sluice-test-${name}`] = lambdaEntry({ name, handler, ports: own }, env)
  }
})
afterAll(async () => {
  await states.close()
  await lambda.close()
  await s3.close()
  await isolate.close()
  await places.close()
  db.close()
})

const identity = { userArn: `arn:aws:sts::${ACCOUNT}:assumed-role/Deployer/session` }
const request = (body: unknown, runId: string | undefined, more: object = {}) => ({
  httpMethod: body === undefined ? 'GET' : 'POST',
  path: '/',
  pathParameters: runId === undefined ? null : { run_id: runId, ...more },
  queryStringParameters: null,
  headers: { 'content-type': 'application/json' },
  body: body === undefined ? null : JSON.stringify(body),
  isBase64Encoded: false,
  requestContext: { accountId: ACCOUNT, identity },
})
const call = async (name: string, runId?: string, body?: unknown, more?: object) => {
  const answer = await lambda.invoke(lambdaArn(name), request(body, runId, more))
  const { statusCode, body: text } = answer as { statusCode: number; body: string }
  return { status: statusCode, json: JSON.parse(text) }
}
const until = async (runId: string, type: RunEvent['type']) => {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const events = await runs.events({ tenant: 'main', run_id: runId }, 0, 1_000)
    if (events.some((event) => event.type === type)) return events
  }
  throw new Error(`no ${type}`)
}
const start = async (dag: object) => {
  const { status, json } = await call('start-run', undefined, { dag: JSON.stringify(dag) })
  expect([status, json]).toEqual([201, expect.objectContaining({ run_id: expect.any(String) })])
  return String(json.run_id)
}
describe('the AWS adapters together', () => {
  test('a run goes from its request to its end, caller and objects in the right places', async () => {
    const runId = await start({ name: 'plain', blocks: AGENTS })
    const events = await until(runId, 'run:completed')
    expect(events[0]?.data).toMatchObject({ starter: 'iam:Deployer' })
    expect(events.filter(({ type }) => type === 'block:completed')).toHaveLength(2)
    const view = await call('get-run', runId)
    expect(view).toMatchObject({ status: 200, json: { run: { state: 'completed', starter: 'iam:Deployer' } } })
    const { status, json } = await call('get-block', runId, undefined, { block_id: AGENTS[1]?.id ?? '' })
    expect(status).toBe(200)
    expect(json.attempts).toMatchObject([
      {
        state: 'completed',
        inputs_verified: true,
        calls: [{ prompt: expect.any(String), answer: expect.any(String) }],
      },
    ])
  })

  test('an approval is asked, decided by the caller, and the machine goes on through its token', async () => {
    const [first, second] = AGENTS
    const runId = await start({
      name: 'asking',
      blocks: [first, { ...second, approval: { required: true, prompt: 'Go on?' } }],
    })
    const events = await until(runId, 'approval:requested')
    const asked = events.find((event) => event.type === 'approval:requested')
    const { approval_id, digest } = (asked?.data ?? {}) as Readonly<Record<string, string>>
    const decided = await call('decide-approval', runId, { approval_id, decision: 'approve', digest })
    expect(decided.status).toBe(200)
    const all = await until(runId, 'run:completed')
    expect(all.find(({ type }) => type === 'approval:decided')?.data).toMatchObject({
      by: { kind: 'iam', id: 'Deployer' },
    })
    await lambda.settled()
    await expect.poll(() => states.running()).toBe(0)
  })

  test('blocks that wait for several others are woken through their tokens', async () => {
    const [plan] = AGENTS
    const ask = (id: string, from: readonly string[]) => ({
      ...plan,
      id,
      inputs: Object.fromEntries(from.map((upstream) => [upstream, { from: `${upstream}.plan` }])),
    })
    // No series-parallel graph, so it needs joins: c waits for a, d for both.
    const blocks = [ask('a', []), ask('b', []), ask('c', ['a']), ask('d', ['a', 'b']), ask('e', ['b', 'c'])]
    const events = await until(await start({ name: 'joins', blocks }), 'run:completed')
    expect(events.filter(({ type }) => type === 'block:completed')).toHaveLength(5)
    expect(states.calls).toContain('SendTaskSuccess')
  })

  test('events stream to the end of the run', async () => {
    const runId = await start({ name: 'streamed', blocks: AGENTS })
    const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 60_000 }
    const event = { ...request(undefined, runId), queryStringParameters: { since: '1' } }
    const { statusCode, headers, chunks } = await runtime.call(streams['stream-events'], event, context)
    let text = ''
    for await (const chunk of chunks) text += chunk
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/event-stream'])
    const stored = await runs.events({ tenant: 'main', run_id: runId }, 0, 1_000)
    expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual(
      stored.slice(1).map(({ seq }) => seq),
    )
  })

  test('a stopped run stops its execution through the outbox', async () => {
    const [first, second] = AGENTS
    const runId = await start({
      name: 'stopping',
      blocks: [first, { ...second, approval: { required: true, prompt: 'Go on?' } }],
    })
    await until(runId, 'approval:requested')
    expect((await call('stop-run', runId, { reason: 'enough' })).status).toBeLessThan(300)
    await until(runId, 'run:cancelled')
    await lambda.settled()
    expect(states.calls).toContain('StopExecution')
    expect(await states.running()).toBe(0)
  })

  test('a request nobody is behind is 401', async () => {
    const requestContext = { accountId: ACCOUNT, identity: { userArn: null } }
    const answer = await lambda.invoke(lambdaArn('list-runs'), { ...request(undefined, undefined), requestContext })
    expect(answer).toMatchObject({ statusCode: 401 })
  })

  test.each(['read-input', 'read-table'])(
    'a path of %s is refused where there is no inputs folder',
    async (handler) => {
      const reading = {
        id: 'read',
        mode: 'deterministic',
        deterministic: { handler, config: { path: 'countries.json' } },
        outputs: { rows: { type: 'json' } },
      }
      const events = await until(await start({ name: 'reading', blocks: [reading] }), 'run:failed')
      expect(events.find(({ type }) => type === 'block:failed')?.data).toMatchObject({ code: 'inputs_not_here' })
    },
  )
})

const AGENTS = [
  {
    id: 'plan',
    outputs: { plan: { type: 'string' } },
    agent: { provider: 'local', model: 'outline', prompt: 'Plan a small garden with three beds.' },
  },
  {
    id: 'write',
    inputs: { plan: { from: 'plan.plan' } },
    outputs: { text: { type: 'string' } },
    agent: { provider: 'local', model: 'outline', prompt: 'Write about {{inputs.plan}}' },
  },
]
