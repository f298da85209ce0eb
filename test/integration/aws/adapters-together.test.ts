import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRunStore } from '../../../infra/local/run-store/run-store.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { ACCOUNT } from '../../emulators/aws-client.ts'
import { lambdaArn } from './aws-settings.ts'
import { routeEvent, startEntries } from './entries-place.ts'
import { startMachinesPlaces } from './machines-place.ts'

/** Every function of the catalog behind its Lambda entry, on AWS's adapters; only the run store is the local one. */
const db = new DatabaseSync(':memory:')
const runs = openRunStore(db)
let places: Awaited<ReturnType<typeof startMachinesPlaces>>
let place: Awaited<ReturnType<typeof startEntries>>

beforeAll(async () => {
  places = await startMachinesPlaces()
  const { table } = await places.open()
  place = await startEntries({ table, aws: places.aws, stores: { runs: () => runs } })
})
afterAll(async () => {
  await place.close()
  await places.close()
  db.close()
})

const call: typeof place.call = (...asked) => place.call(...asked)
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
    await place.lambda.settled()
    await expect.poll(() => place.states.running()).toBe(0)
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
    expect(place.states.calls).toContain('SendTaskSuccess')
  })

  test('events stream to the end of the run', async () => {
    const runId = await start({ name: 'streamed', blocks: AGENTS })
    const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 60_000 }
    const event = { ...routeEvent(undefined, runId), queryStringParameters: { since: '1' } }
    const { statusCode, headers, chunks } = await place.runtime.call(place.streams['stream-events'], event, context)
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
    await place.lambda.settled()
    expect(place.states.calls).toContain('StopExecution')
    expect(await place.states.running()).toBe(0)
  })

  test('a request nobody is behind is 401', async () => {
    const requestContext = { accountId: ACCOUNT, identity: { userArn: null } }
    const answer = await place.lambda.invoke(lambdaArn('list-runs'), {
      ...routeEvent(undefined, undefined),
      requestContext,
    })
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
