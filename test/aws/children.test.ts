import { DescribeExecutionCommand } from '@aws-sdk/client-sfn'
import { expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { childRunId, runIdOfIdempotencyKey } from '../../shared/runs/ids.ts'
import { isEnd } from './caller.ts'
import { shippedStack } from './shipped-stack.ts'

const aws = shippedStack()

const text = { text: { type: 'string' } }
const says = (prompt: string) => ({ provider: 'local', model: 'outline', prompt })
/** An inline document; its children are documents of dags/. */
const PARENT = JSON.stringify({
  name: 'parent',
  blocks: [
    { id: 'goal', outputs: text, agent: says('Plan a small garden with three beds.') },
    {
      id: 'made',
      mode: 'dag',
      inputs: { text: { from: 'goal.text' } },
      dag: { name: 'basic', inputs: { goal: '{{inputs.text}}' }, outputs: { text: 'implement.patch' } },
      outputs: text,
      post_gates: [{ name: 'there', check: { type: 'not_empty', port: 'text' } }],
    },
    { id: 'told', inputs: { text: { from: 'made.text' } }, outputs: text, agent: says('Sum up: {{inputs.text}}') },
  ],
})
const WAITS = JSON.stringify({ name: 'waits', blocks: [{ id: 'sub', mode: 'dag', dag: { name: 'coding' } }] })

const childIn = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'block:started' && event.data.child ? [event.data.child] : []))
const statusOf = async (id: string, machine: string) => {
  const arn = `arn:aws:states:eu-central-1:000000000000:execution:sluice-dev-${machine}:${id}`
  return (await aws.states.send(new DescribeExecutionCommand({ executionArn: arn }))).status
}

test('a block runs a deployed document as a child, on its deployed machine', async () => {
  const id = await aws.caller.start({ dag: PARENT })
  const events = await aws.caller.until(id, isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  const [child = '', ...more] = childIn(events)
  expect(more).toEqual([])
  expect(await statusOf(child, 'basic')).toBe('SUCCEEDED')
  const { json } = await aws.caller.call('GET', `/api/dag/runs/${child}`)
  const parent = { run_id: id, block_id: 'made', epoch: 0, attempt: 1 }
  expect(json.run).toMatchObject({ role: 'child', state: 'completed', starter: 'iam:Deployer', parent })
  const list = await aws.caller.call('GET', '/api/dag/runs?role=child')
  expect(list.json.runs).toMatchObject([{ run_id: child, parent }])
})

test('the stop of a parent stops its child, though that waits for a person', async () => {
  const id = await aws.caller.start({ dag: WAITS })
  const [child = ''] = childIn(await aws.caller.until(id, ({ type }) => type === 'block:started'))
  await aws.caller.until(child, ({ type }) => type === 'approval:requested')
  expect(await aws.caller.call('POST', `/api/dag/runs/${id}/stop`, {})).toMatchObject({ status: 200 })
  const events = await aws.caller.until(child, isEnd)
  expect(events.at(-1)).toMatchObject({ type: 'run:cancelled', data: { code: 'parent_ended' } })
  await expect.poll(() => statusOf(child, 'coding'), { timeout: 10_000 }).toBe('ABORTED')
})

test('a block that is stopped alone stops its child; its run goes on and ends failed, its budget balanced', async () => {
  const agent = says('Plan a small garden with three beds.')
  const blocks = [
    { id: 'sub', mode: 'dag', dag: { name: 'coding' }, budget: { tokens: 50_000 } },
    { id: 'told', outputs: text, agent: { ...agent, model_params: { max_tokens: 500 } } },
    { id: 'after', outputs: text, agent, depends: 'sub.succeeded' },
  ]
  const dag = JSON.stringify({ name: 'stops-one', budget: { tokens: 100_000 }, blocks })
  const id = await aws.caller.start({ dag })
  const begun = ({ type, block_id }: RunEvent) => type === 'block:started' && block_id === 'sub'
  const [child = ''] = childIn(await aws.caller.until(id, begun))
  await aws.caller.until(child, ({ type }) => type === 'approval:requested')
  const stop = (block_id: string) => aws.caller.call('POST', `/api/dag/runs/${id}/stop`, { block_id, reason: 'enough' })
  expect(await stop('sub')).toMatchObject({ status: 200, json: { block_id: 'sub', status: 'cancelled' } })
  const events = await aws.caller.until(id, isEnd)
  expect(events.at(-1)).toMatchObject({
    type: 'run:failed',
    data: {
      code: 'block_cancelled',
      block_id: 'sub',
      reason: expect.stringContaining('stopped by iam:Deployer: enough'),
    },
  })
  const ends = events.flatMap(({ type, block_id }) =>
    /completed|skipped|cancelled/.test(type) && block_id ? [`${block_id} ${type}`] : [],
  )
  expect(ends.sort()).toEqual(['after block:skipped', 'sub block:cancelled', 'told block:completed'])
  expect((await aws.caller.until(child, isEnd)).at(-1)).toMatchObject({
    type: 'run:cancelled',
    data: { code: 'parent_ended' },
  })
  const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}`)
  const { budget, tokens } = json.run as { budget: Record<string, number>; tokens: number }
  expect(budget).toMatchObject({ cap_tokens: 100_000, committed_tokens: tokens, spent_tokens: tokens })
  expect(await stop('told')).toMatchObject({ status: 409, json: { code: 'run_ended' } })
})

/** From the last reads before a function's first write to one past its last call. */
const CRASHES = [
  { name: 'open-child', first: 6, last: 18 },
  { name: 'send-outbox', first: 1, last: 6 },
  { name: 'start-run', first: 1, last: 6 },
]

/** The calls of open-child name the parent, those of the outbox the child. */
function namedIn(function_: string, run_id: string): string {
  return function_ === 'open-child' ? run_id : childRunId('main', { run_id, block: 1, epoch: 0, attempt: 1 })
}

test('a function that dies after any answer of AWS, or is called twice: the run completes with one child', async () => {
  const plans = CRASHES.flatMap(({ name, first, last }) =>
    Array.from({ length: last - first + 1 }, (_, i) => ({ name, after: first + i, key: `${name}-child-${first + i}` })),
  )
  for (const { name, after, key } of plans) {
    const run_id = runIdOfIdempotencyKey('main', 'iam:Deployer', 'POST /api/dag/run', key)
    aws.place.twice.add(run_id)
    aws.place.sandboxes(name).crash((event) => JSON.stringify(event).includes(namedIn(name, run_id)), after)
  }
  const ended = await Promise.all(
    plans.map(async ({ key }) => {
      const { json } = await aws.caller.call('POST', '/api/dag/run', { dag: PARENT }, { 'idempotency-key': key })
      const id = String(json.run_id)
      // What an outbox owes is repeated after a minute.
      return { key, events: await aws.caller.until(id, isEnd).catch(() => aws.caller.until(id, isEnd)) }
    }),
  )
  const wrong = ended.filter(({ events }) => {
    return events.at(-1)?.type !== 'run:completed' || new Set(childIn(events)).size !== 1
  })
  expect(wrong.map(({ key, events }) => [key, events.at(-1)])).toEqual([])
  // How many answers a call needs differs with what its sandbox remembers: a third of the plans at the least struck.
  expect(aws.place.sandboxes('open-child').counts.crashed).toBeGreaterThanOrEqual(3)
}, 180_000)

test('no function failed in a way nobody expected, or wanted what its role does not allow', async () => {
  await aws.place.lambda.settled()
  expect(aws.place.api.errors).toEqual([])
  expect(aws.place.denied).toEqual([])
})
