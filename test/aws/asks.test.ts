import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isEnd } from './caller.ts'
import { problemsOf } from './invariants.ts'
import { shippedStack } from './shipped-stack.ts'

/** Questions in the middle of an attempt on the synthesized stacks: AskPerson caught, a token that waits, the way back. */
const aws = shippedStack()

const agent = (prompt: string) => ({ provider: 'local', model: 'outline', prompt })
const asks = (name: string, port: string) => ({
  name,
  check: { type: 'contains', port, values: ['no outline has this'] },
  on_fail: 'ask',
})
const plan = { id: 'plan', outputs: { text: 'string' }, agent: agent('Plan: {{inputs.goal}}') }
const use = {
  id: 'use',
  inputs: { text: { from: 'plan.text' } },
  outputs: { text: 'string' },
  agent: agent('{{inputs.text}}'),
}

async function answered(dag: object, decision: 'approve' | 'waive' | 'reject'): Promise<readonly RunEvent[]> {
  const id = await aws.caller.start({ dag, context: { goal: 'Move the orders to the new table.' } })
  const seen = new Set<string>()
  for (;;) {
    const open = (event: RunEvent) => event.type === 'approval:requested' && !seen.has(event.data.approval_id)
    const events = await aws.caller.until(id, (event) => open(event) || isEnd(event))
    const asked = events.find(open)
    if (asked?.type !== 'approval:requested') {
      expect(problemsOf(events, JSON.stringify(dag))).toEqual([])
      return events
    }
    const { approval_id, digest } = asked.data
    seen.add(approval_id)
    const body = { approval_id, digest, decision, feedback: 'as I see it' }
    const answer = await aws.caller.call('POST', `/api/dag/runs/${id}/approvals`, body)
    if (answer.status !== 200) throw new Error(`decide: ${answer.status} ${answer.text}`)
  }
}
const kinds = (events: readonly RunEvent[], id: string) =>
  events.flatMap(({ type, block_id }) => (block_id === id ? [type] : []))

describe('a question in the middle of an attempt', () => {
  test('about pre- and post-gates: both are waived, the work is done once', async () => {
    const guarded = { ...use, pre_gates: [asks('before', 'text')], post_gates: [asks('after', 'text')] }
    const events = await answered({ name: 'asks', blocks: [plan, guarded] }, 'waive')
    expect(events.at(-1)?.type).toBe('run:completed')
    const told = kinds(events, 'use').filter((type) => type !== 'block:ready')
    expect(told.filter((type) => type === 'block:output')).toHaveLength(1)
    expect(told.filter((type) => /asked|resumed/.test(type))).toEqual(['block:asked', 'block:resumed', 'block:asked'])
  })

  test('that is rejected fails the block', async () => {
    const events = await answered(
      { name: 'asks-no', blocks: [{ ...plan, post_gates: [asks('after', 'text')] }, use] },
      'reject',
    )
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'ask_rejected' } })
  })
})
