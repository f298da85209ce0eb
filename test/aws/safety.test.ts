import { DescribeExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn'
import { expect, test } from 'vitest'
import { isEnd } from './caller.ts'
import { shippedStack } from './shipped-stack.ts'

const aws = shippedStack()

const safety = async () => (await aws.caller.call('GET', '/api/dag/safety')).json
const waiting = async () => {
  const id = await aws.caller.start({ name: 'coding' })
  await aws.caller.until(id, ({ type }) => type === 'approval:requested')
  return id
}
const activeRuns = () => expect.poll(async () => (await safety()).active_runs, { timeout: 20_000 })

test('shows the policy of the deployment, the runs that have a aws.place, and no hold', async () => {
  expect(await safety()).toMatchObject({
    policy: { max_runs: { value: 500, source: 'sluice.yaml' }, max_run_tokens: { value: null, source: 'default' } },
    hold: null,
    active_runs: 0,
    queued_runs: 0,
  })
})

test('an execution aborted from outside ends its run, which waited without a place', async () => {
  const id = await waiting()
  await activeRuns().toBe(0)
  const executionArn = `arn:aws:states:eu-central-1:000000000000:execution:sluice-dev-coding:${id}`
  await aws.states.send(new StopExecutionCommand({ executionArn, cause: 'by hand' }))
  const { status, input } = await aws.states.send(new DescribeExecutionCommand({ executionArn }))
  expect(status).toBe('ABORTED')
  // What the status-change rule delivers; the rule itself is EventBridge's.
  const event = { source: 'aws.states', 'detail-type': 'Step Functions Execution Status Change' }
  await aws.place.sandboxes('reconcile').invoke({ ...event, detail: { executionArn, status, input, name: id } })
  const events = await aws.caller.until(id, isEnd)
  expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'execution_ended' } })
  await activeRuns().toBe(0)
})

test('stop-all with hold leaves nothing active, refuses starts, and is released', async () => {
  const ids = await Promise.all([waiting(), waiting()])
  const held = await aws.caller.call('POST', '/api/dag/runs/stop-all', { hold: true, reason: 'wrong model' })
  expect(held).toMatchObject({ status: 200, json: { stopped: 2, hold: { by: 'iam:Deployer', reason: 'wrong model' } } })
  for (const id of ids) expect((await aws.caller.until(id, isEnd)).at(-1)?.type).toBe('run:cancelled')
  await activeRuns().toBe(0)
  const refused = await aws.caller.call('POST', '/api/dag/run', { name: 'basic', inputs: { goal: 'Plan a garden' } })
  expect(refused).toMatchObject({ status: 409, json: { code: 'starts_on_hold' } })
  expect((await safety()).hold).toEqual(held.json.hold)
  const released = await aws.caller.call('POST', '/api/dag/safety/release', {})
  expect(released).toMatchObject({ status: 200, json: { released: true } })
  const id = await aws.caller.start({ name: 'basic', inputs: { goal: 'Plan a small garden' } })
  expect((await aws.caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
  await activeRuns().toBe(0)
})

test('no function wanted what its role does not allow', async () => {
  await aws.place.lambda.settled()
  expect(aws.place.api.errors).toEqual([])
  expect(aws.place.denied).toEqual([])
})
