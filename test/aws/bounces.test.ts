import { expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { story } from '../integration/loop.ts'
import { isEnd } from './caller.ts'
import { problemsOf } from './invariants.ts'
import { shippedStack } from './shipped-stack.ts'

/** Bounces on the synthesized stacks: modules in HEAD on DynamoDB, close-module as a function, its Choice in the machine. */
const aws = shippedStack()

const agent = (prompt: string) => ({ provider: 'local', model: 'outline', prompt })
const loop = (word: string, rule: object) => ({
  name: 'loop',
  blocks: [
    { id: 'plan', outputs: { text: 'string' }, agent: agent('Plan: {{inputs.goal}}') },
    {
      id: 'build',
      inputs: { plan: { from: 'plan.text' } },
      outputs: { patch: 'string' },
      agent: agent('{{inputs.plan}}'),
    },
    {
      id: 'docs',
      inputs: { plan: { from: 'plan.text' } },
      outputs: { text: 'string' },
      agent: agent('{{inputs.plan}}'),
    },
    {
      id: 'review',
      inputs: { patch: { from: 'build.patch' } },
      outputs: { text: 'string' },
      agent: agent('Review {{inputs.patch}}'),
      post_gates: [
        {
          name: 'undo',
          check: { type: 'contains', port: 'patch', values: [word], case_sensitive: true },
          on_fail: 'route',
        },
      ],
      on_gate_fail: [{ when_gate: 'undo', route_to: 'build', ...rule }],
    },
    {
      id: 'ship',
      inputs: { patch: { from: 'build.patch' }, docs: { from: 'docs.text' } },
      outputs: { text: 'string' },
      agent: agent('{{inputs.patch}}'),
    },
  ],
})

async function run(dag: object): Promise<readonly RunEvent[]> {
  const id = await aws.caller.start({ dag, context: { goal: 'Move the orders to the new table. Keep the old one.' } })
  const events = await aws.caller.until(id, isEnd)
  expect(problemsOf(events, JSON.stringify(dag))).toEqual([])
  return events
}

test('a review sends the build back, which obeys; what stands behind waits for the exit', async () => {
  const told = story(await run(loop('Rollback', { max_bounces: 2 })))
  const inside = told.filter((line) => /build|review|ship/.test(line))
  expect(inside).toEqual([
    'build started',
    'build completed',
    'review started',
    'review failed',
    'rerouted to build: build review (1/2)',
    'build started~1',
    'build completed~1',
    'review started~1',
    'review completed~1',
    'ship started',
    'ship completed',
  ])
  expect(told.filter((line) => line.startsWith('plan started'))).toHaveLength(1)
})

test('bounces that do not help end in the failure, and in what it says', async () => {
  // A word that no answer of the provider ever holds, whatever the feedback says.
  const events = await run(loop('\u0007', { max_bounces: 1 }))
  const told = story(events)
  expect(told.filter((line) => line.startsWith('rerouted'))).toHaveLength(1)
  expect(told.slice(-1)).toEqual(['run:failed'])
  expect(JSON.stringify(events.at(-1)?.data)).toMatch(/after 1 of 1 bounces/)
})
