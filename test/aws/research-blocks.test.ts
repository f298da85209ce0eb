import { DescribeExecutionCommand } from '@aws-sdk/client-sfn'
import { beforeAll, expect, test } from 'vitest'
import { RESEARCH_ROUTES } from '../../shared/api/research-routes.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isRunEnd } from '../../shared/runs/event-types.ts'
import { shippedStack } from './shipped-stack.ts'

/** Blocks of `mode: research` on the adapters of AWS: both machines on the emulator, every function with its own rights. */
const aws = shippedStack()
beforeAll(async () => {
  const entities = [
    { entity_id: 'acme.ops.geo.atlas.country.no', label: 'Norway', snippet: 'The capital of Norway is Oslo.' },
  ]
  expect((await aws.caller.call('PUT', '/api/graph/entities', { entities })).status).toBe(200)
})

const isEnd = ({ type }: RunEvent) => isRunEnd(type)
const statusOf = async (run_id: string) => {
  const executionArn = `arn:aws:states:eu-central-1:000000000000:execution:sluice-dev-research:${run_id}`
  return (await aws.states.send(new DescribeExecutionCommand({ executionArn }))).status
}
const ASK = {
  id: 'ask',
  mode: 'research',
  research: { topic: 'What is the capital of {{inputs.country}}?' },
  inputs: { country: { type: 'string', default: 'Norway' } },
}
const READ = {
  id: 'read',
  mode: 'deterministic',
  deterministic: { handler: 'pass' },
  inputs: { text: { from: 'ask.synthesis' } },
  outputs: { text: 'string' },
}

test('a block asks on the research machine, publishes the answer, and gives back what the chain left', async () => {
  const isFound = async () => (await aws.caller.call('GET', '/api/graph/search?q=Norway')).json.hits
  await expect.poll(isFound, { timeout: 30_000 }).toHaveLength(1)
  const dag = JSON.stringify({ name: 'asks', budget: { tokens: 10_000 }, blocks: [ASK, READ] })
  const id = await aws.caller.start({ dag })
  const events = await aws.caller.until(id, isEnd)
  expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
  const [question = ''] = events.flatMap((event) => (event.type === 'block:started' ? (event.data.child ?? []) : []))
  const answer = await aws.caller.call('GET', `/api/research/${question}`)
  const told = RESEARCH_ROUTES['get-research'].answer.parse(answer.json)
  expect(told).toMatchObject({ parent_loop: `${id}.ask`, result: { synthesis: expect.stringContaining('Oslo') } })
  const outputs = await aws.caller.call('GET', `/api/dag/runs/${id}/outputs/read`)
  expect(outputs.json.outputs).toEqual({ text: told.result?.synthesis })
  const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}`)
  const { budget } = json.run as { budget: Record<string, number> }
  expect(budget).toMatchObject({ committed_tokens: told.tokens, spent_tokens: told.tokens })
  await expect.poll(() => statusOf(question), { timeout: 10_000 }).toBe('SUCCEEDED')
  for (const run of [id, question]) {
    const verified = async () => (await aws.caller.call('GET', `/api/dag/runs/${run}/verify`)).json.ok
    await expect.poll(verified, { timeout: 30_000 }).toBe(true)
  }
})

test('nobody was refused what he needed', () => {
  expect(aws.place.denied).toEqual([])
})
