import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { DescribeExecutionCommand, SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn'
import { describe, expect, test } from 'vitest'
import { isDeployed } from '../../infra/aws/function-sizes.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { objectKey } from '../../shared/ports/objects.ts'
import { ROUTES } from '../../shared/routes.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { problemsOf } from './invariants.ts'
import { shippedStack } from './shipped-stack.ts'

const ROOT = join(import.meta.dirname, '../..')
const document = (name: string) => readFileSync(join(ROOT, `dags/${name}.yaml`), 'utf8')
const goal = 'Plan a small garden with three beds'

/** An execution that a role may not stop. */
const OF_NOBODY = 'arn:aws:states:eu-central-1:000000000000:execution:sluice-dev-basic:any'

const aws = shippedStack([`sluice-dev-get-run: states:StopExecution on ${OF_NOBODY}`])

/** What the inbox has of one run. */
async function inboxOf(by: Caller, id: string, status: string): Promise<readonly { readonly run_id: string }[]> {
  const { status: code, text, json } = await by.call('GET', `/api/dag/approvals?status=${status}&limit=100`)
  expect([code, text]).toEqual([200, expect.any(String)])
  return Array.from(json.approvals as Iterable<{ run_id: string }>).filter(({ run_id }) => run_id === id)
}

const asked = (events: readonly RunEvent[]) => events.find(({ type }) => type === 'approval:requested')
/** The run's verdict is there before its execution has left its last state. */
const endsAs = (id: string, machine: string, status: string) =>
  expect.poll(() => statusOf(id, machine), { timeout: 10_000 }).toBe(status)
const statusOf = async (id: string, machine: string) => {
  const arn = `arn:aws:states:eu-central-1:000000000000:execution:sluice-dev-${machine}:${id}`
  return (await aws.states.send(new DescribeExecutionCommand({ executionArn: arn }))).status
}

describe('the door', () => {
  test('has the routes of the catalog', () => {
    // Slack's own stands only where the settings name a workspace (slack.test.ts), those of triggers where documents have some.
    const always = ROUTES.filter(({ name }) =>
      FUNCTIONS.some((line) => line.name === name && isDeployed(line, { shell: false })),
    )
    expect([...aws.place.api.routes].sort()).toEqual(always.map(({ method, path }) => `${method} ${path}`).sort())
  })

  test('is closed to who does not sign', async () => {
    const answer = await fetch(`${aws.place.api.url}/api/dag/runs`)
    expect([answer.status, await answer.json()]).toEqual([403, { message: 'Missing Authentication Token' }])
  })

  test.each(['health', 'config', 'agents', 'gates', 'openapi.json', 'dag/safety', 'dag/schema', 'dag/runs'])(
    'answers GET /api/%s',
    async (path) => {
      expect(await aws.caller.call('GET', `/api/${path}`)).toMatchObject({ status: 200 })
    },
  )

  test('knows the deployed documents and judges others', async () => {
    const { json } = await aws.caller.call('GET', '/api/config')
    expect(JSON.stringify(json)).toMatch(/basic.*coding.*dataset-brief/)
    const judged = await aws.caller.call('POST', '/api/dag/validate', { dag: document('coding') })
    expect(judged).toMatchObject({ status: 200, json: { valid: true } })
    const planned = await aws.caller.call('POST', '/api/dag/plan', { dag: document('basic') })
    expect(planned).toMatchObject({ status: 200, json: { transitions: 5, makespan: { seconds: 2 } } })
  })
})

describe('DAGs', () => {
  test('one request starts a run and waits for what it publishes; a run is found by the beginning of its id', async () => {
    const started = await aws.caller.call('POST', '/api/dag/run?wait=20', { name: 'basic', inputs: { goal } })
    expect(started).toMatchObject({ status: 201, json: { state: 'completed', outputs: { implement: {} } } })
    const { run_id } = started.json as { readonly run_id: string }
    const found = await aws.caller.call('GET', `/api/dag/runs/${run_id.slice(0, 16)}`)
    expect(found).toMatchObject({ status: 200, json: { run: { run_id, state: 'completed' } } })
  })

  test('basic runs to its end as the caller', async () => {
    const id = await aws.caller.start({ name: 'basic', inputs: { goal } })
    const events = await aws.caller.until(id, isEnd)
    expect(events.map(({ type }) => type)).toEqual(BASIC)
    expect(problemsOf(events, document('basic'))).toEqual([])
    const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}`)
    expect(json.run).toMatchObject({ state: 'completed', starter: 'iam:Deployer', dag_name: 'basic' })
    const graph = await aws.caller.call('GET', `/api/dag/runs/${id}/graph`)
    const states = Array.from(graph.json.nodes as Iterable<{ id: string; state: string }>, ({ state }) => state)
    expect([graph.status, states]).toEqual([200, ['completed', 'completed']])
    await endsAs(id, 'basic', 'SUCCEEDED')
  })

  test('coding waits for a person; the first decision counts, the second is 409', async () => {
    const id = await aws.caller.start({ name: 'coding' })
    const question = asked(await aws.caller.until(id, ({ type }) => type === 'approval:requested'))
    const reviewer = callerOf(aws.place.api.url, 'Reviewer')
    expect(await inboxOf(reviewer, id, 'pending')).toMatchObject([
      { block_id: question?.block_id, may_decide: { allowed: true }, risk: { level: expect.any(String) } },
    ])
    const decided = await reviewer.decide(id, question, 'approve')
    expect([decided.status, decided.text]).toEqual([200, expect.stringContaining('approved')])
    expect(await aws.caller.decide(id, question, 'reject')).toMatchObject({ status: 409 })
    const events = await aws.caller.until(id, isEnd)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(problemsOf(events, document('coding'))).toEqual([])
    const by = events.find(({ type }) => type === 'approval:decided')?.data
    expect(by).toMatchObject({ decision: 'approve', by: { kind: 'iam', id: 'Reviewer' } })
    expect(await inboxOf(aws.caller, id, 'pending')).toEqual([])
    expect(await inboxOf(aws.caller, id, 'decided')).toMatchObject([{ status: 'approved', decided_by: 'iam:Reviewer' }])
    await endsAs(id, 'coding', 'SUCCEEDED')
  })

  test('dataset-brief ends in an artifact, from a file that is in the bucket', async () => {
    const id = await aws.caller.start({ dag: document('dataset-brief'), inputs: { file: await upload(aws.place) } })
    const question = asked(await aws.caller.until(id, ({ type }) => type === 'approval:requested'))
    expect((await aws.caller.decide(id, question, 'approve')).status).toBe(200)
    const events = await aws.caller.until(id, isEnd)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(problemsOf(events, document('dataset-brief'))).toEqual([])
    const list = await aws.caller.call('GET', `/api/dag/runs/${id}/artifacts`)
    expect(JSON.stringify(list.json)).toContain('dataset-brief.md')
    const brief = await aws.caller.call('GET', `/api/dag/runs/${id}/artifacts/dataset-brief.md`)
    expect(brief.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(brief.text).toMatch(/^# The world's states/)
    expect(brief.text).toContain('ODbL-1.0')
    expect(aws.place.states.calls).toContain('SendTaskSuccess')
  })

  test('an agent fills an artifact: its text is in the bucket, gates see it, and the next agent is told it', async () => {
    const agent = (prompt: string) => ({ provider: 'local', model: 'outline', prompt })
    const long = { name: 'long', check: { type: 'port_min_length', port: 'page_md', min: 20 } }
    const noRef = (port: string) => ({
      name: 'no-ref',
      check: { type: 'contains', port, values: ['objstore://'], not: true },
    })
    const dag = {
      name: 'page',
      inputs: { goal: 'string' },
      blocks: [
        {
          id: 'draw',
          agent: agent('Outline a page: {{inputs.goal}}'),
          outputs: { page_md: 'artifact' },
          post_gates: [long, noRef('page_md')],
        },
        {
          id: 'note',
          agent: agent('Outline a note about this: {{inputs.page_md}}'),
          inputs: { page_md: { from: 'draw.page_md' } },
          outputs: { note: 'string' },
          post_gates: [noRef('note')],
        },
      ],
    }
    const id = await aws.caller.start({ dag, inputs: { goal } })
    const events = await aws.caller.until(id, isEnd)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(problemsOf(events, JSON.stringify(dag))).toEqual([])
    const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}/artifacts`)
    expect(json).toMatchObject({ artifacts: [{ name: 'draw/page_md.md', block_id: 'draw', attempt: 1 }] })
    const stored = await aws.caller.call('GET', `/api/dag/runs/${id}/artifacts/draw/page_md.md`)
    expect([stored.status, stored.text.length > 20, stored.text.includes('objstore://')]).toEqual([200, true, false])
  })

  test('a path is refused: there is no inputs folder here', async () => {
    const events = await aws.caller.until(await aws.caller.start({ name: 'dataset-brief' }), isEnd)
    expect(events.find(({ type }) => type === 'block:failed')?.data).toMatchObject({ code: 'inputs_not_here' })
  })
})

describe('a run', () => {
  test('is started once for one key and body', async () => {
    const key = { 'idempotency-key': 'once' }
    const body = { name: 'basic', inputs: { goal } }
    const answers = await Promise.all([1, 2, 3].map(() => aws.caller.call('POST', '/api/dag/run', body, key)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201])
    expect(new Set(answers.map(({ json }) => json.run_id)).size).toBe(1)
    const other = await aws.caller.call('POST', '/api/dag/run', { ...body, inputs: { goal: 'Another' } }, key)
    expect(other.status).toBe(422)
    const events = await aws.caller.until(String(answers[0]?.json.run_id), isEnd)
    expect(events.map(({ type }) => type)).toEqual(BASIC)
  })

  test('is stopped while it waits, and its execution with it', async () => {
    const id = await aws.caller.start({ name: 'coding' })
    await aws.caller.until(id, ({ type }) => type === 'approval:requested')
    const stopped = await aws.caller.call('POST', `/api/dag/runs/${id}/stop`, { reason: 'enough' })
    expect(stopped).toMatchObject({ status: 200, json: { status: 'cancelled' } })
    const events = await aws.caller.until(id, isEnd)
    expect(problemsOf(events, document('coding'))).toEqual([])
    await endsAs(id, 'coding', 'ABORTED')
  })

  test('replays in pages what it streamed, and the stream ends with the run', async () => {
    const id = await aws.caller.start({ name: 'basic', inputs: { goal } })
    const streamed = await aws.caller.stream(id)
    const types = streamed.map(({ event }) => event)
    expect(types).toEqual(BASIC)
    const pages: unknown[] = []
    for (let since = 0; since < BASIC.length; since += 4) {
      const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}/replay?since=${since}&limit=4`)
      pages.push(...(json.events as unknown[]))
    }
    expect(pages).toEqual(streamed.map(({ data }) => data))
    const rest = await aws.caller.stream(id, { 'last-event-id': '6' })
    expect(rest.map(({ id: seq }) => seq)).toEqual([7, 8, 9, 10])
  })

  test('has a context that is changed by version', async () => {
    const id = await aws.caller.start({ name: 'coding', context: { colour: 'red' } })
    const path = `/api/dag/runs/${id}/context`
    expect((await aws.caller.call('GET', path)).json).toMatchObject({ version: 0, values: { colour: 'red' } })
    const set = { colour: 'blue' }
    expect(await aws.caller.call('PATCH', path, { set, if_version: 0 })).toMatchObject({ status: 200 })
    expect(await aws.caller.call('PATCH', path, { set, if_version: 0 })).toMatchObject({ status: 409 })
    expect((await aws.caller.call('GET', path)).json).toMatchObject({ version: 1, values: set })
    await aws.caller.call('POST', '/api/dag/runs/stop-all', {})
    expect((await aws.caller.until(id, isEnd)).map(({ type }) => type)).toContain('context:patched')
  })

  test('goes on when nobody answers in time: the sweep is called on its schedule', async () => {
    const dag = document('coding')
      .replace('timeout_sec: 86400', 'timeout_sec: 2')
      .replace('on_timeout: reject', 'on_timeout: approve')
    const id = await aws.caller.start({ dag })
    const events = await aws.caller.until(id, isEnd)
    expect(events.find(({ type }) => type === 'approval:expired')?.data).toMatchObject({ on_timeout: 'approve' })
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(problemsOf(events, dag)).toEqual([])
  })
})

test('no function failed in a way nobody expected, or wanted what its role does not allow', async () => {
  await aws.place.lambda.settled()
  expect(aws.place.api.errors).toEqual([])
  expect(aws.place.denied).toEqual([])
  const logs = [...aws.place.functions.values()].flatMap((sandboxes) => sandboxes.logs)
  // An emulator that gets no turn for seconds on a busy machine is no failure of a function.
  const errors = logs.filter((line) => line.includes('"level":"error"') && !line.includes('did not answer. Try again'))
  expect(errors).toEqual([])
})

test('a role allows nothing but what its function does', async () => {
  const credentials = { accessKeyId: 'sluice-dev-get-run', secretAccessKey: 'test' }
  const door = new SFNClient({ endpoint: aws.place.door.endpoint, region: 'eu-central-1', credentials })
  await expect(door.send(new StopExecutionCommand({ executionArn: OF_NOBODY }))).rejects.toThrow('not authorized')
  door.destroy()
})

test('task tokens stand in no log', () => {
  const tokens = aws.place.deliveries.flatMap(({ payload }) => {
    const { token } = payload as { readonly token?: string }
    return token === undefined ? [] : [token]
  })
  const logs = [...aws.place.functions.values()].flatMap((sandboxes) => sandboxes.logs).join('')
  expect(tokens.length).toBeGreaterThan(3)
  expect(tokens.filter((token) => logs.includes(token))).toEqual([])
})

const BASIC = [
  'run:started',
  ...['block:ready', 'block:started', 'block:output', 'block:completed'],
  ...['block:ready', 'block:started', 'block:output', 'block:completed'],
  'run:completed',
]

/** Puts the data set into the bucket under its hash, as an operator would with the AWS CLI; answers the ref. */
async function upload({ s3 }: typeof aws.place): Promise<string> {
  const countries = dirname(createRequire(import.meta.url).resolve('world-countries/package.json'))
  const bytes = readFileSync(join(countries, 'countries.json'))
  await s3.put(objectKey('main', sha256(bytes)), bytes)
  return `objstore://main/${sha256(bytes)}`
}
