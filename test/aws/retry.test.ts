import { expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isEnd } from './caller.ts'
import { shippedStack } from './shipped-stack.ts'

const aws = shippedStack()

const local = (id: string, template: string, from: readonly string[] = [], more: object = {}) => ({
  id,
  inputs: Object.fromEntries(from.map((other) => [other, { from: `${other}.text` }])),
  outputs: { text: { type: 'string' } },
  agent: { provider: 'local', model: 'template', prompt: template, model_params: { template } },
  ...more,
})
const warm = { name: 'warm', check: { type: 'contains', port: 'text', values: ['warm'] }, on_fail: 'fail' }
const dag = {
  name: 'retried',
  inputs: { tone: { type: 'string', default: 'dry' } },
  blocks: [
    local('plan', 'a plan'),
    local('say', '{{inputs.plan}}, {{inputs.tone}}', ['plan'], { post_gates: [warm] }),
    {
      id: 'keep',
      mode: 'deterministic',
      inputs: { body: { from: 'plan.text' } },
      outputs: { file: 'artifact' },
      deterministic: { handler: 'write-artifact', config: { name: 'plan.md' } },
    },
  ],
}

function taken(events: readonly RunEvent[]): Record<string, string | undefined> {
  const done = events.flatMap((event) => (event.type === 'block:completed' ? [event] : []))
  return Object.fromEntries(done.map(({ block_id, data }) => [block_id, data.cached_from]))
}

async function retry(id: string, body: object) {
  const { status, json, text } = await aws.caller.call('POST', `/api/dag/runs/${id}/retry`, body)
  expect([status, text]).toEqual([201, expect.any(String)])
  const next = String(json.run_id)
  return { id: next, events: await aws.caller.until(next, isEnd), expected: json.reused_expected }
}

test('a failed run is resumed: what completed is taken over, also by a document whose machine is not there yet', async () => {
  const first = await aws.caller.start({ dag })
  expect((await aws.caller.until(first, isEnd)).at(-1)?.type).toBe('run:failed')

  const second = await retry(first, { inputs: { tone: 'warm' } })
  expect(second.events.at(-1)?.type).toBe('run:completed')
  expect(taken(second.events)).toEqual({ plan: first, say: undefined, keep: undefined })
  expect(second.expected).toEqual(['plan'])

  const edited = { ...dag, blocks: [...dag.blocks, local('end', 'the end of {{inputs.say}}', ['say'])] }
  const third = await retry(second.id, { dag: edited })
  expect(third.events.at(-1)?.type).toBe('run:completed')
  const { id } = second
  expect(taken(third.events)).toMatchObject({ plan: id, say: id, end: undefined })

  const whole = await retry(third.id, {})
  expect(taken(whole.events)).toEqual({ plan: third.id, say: third.id, keep: third.id, end: third.id })
  const { json } = await aws.caller.call('GET', `/api/dag/runs/${whole.id}`)
  expect(json).toMatchObject({ run: { retry_of: third.id, root: first, tokens: 0 } })
  expect(json.lineage).toHaveLength(3)
  const artifact = await aws.caller.call('GET', `/api/dag/runs/${whole.id}/artifacts/plan.md`)
  expect(artifact.text).toBe('a plan')

  const diff = await aws.caller.call('GET', `/api/dag/runs/${first}/diff/${third.id}`)
  expect(diff).toMatchObject({ status: 200, json: { only_in: { b: ['end'] }, context: { tone: 'different' } } })
})
