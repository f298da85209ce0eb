import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TestPlace } from '../test-place.ts'
import { ACCURACY, contractOf, judge, judgedDag, judgedRun, openGoalPlace } from './goal-place.ts'

let open: TestPlace
beforeEach(async () => {
  open = await openGoalPlace()
})
afterEach(() => open.close())

const PARENT = {
  name: 'parent',
  inputs: { said: 'string' },
  blocks: [
    {
      id: 'sub',
      mode: 'dag',
      dag: { name: 'inner', outputs: { text: 'work.text' } },
      inputs: { said: 'string' },
      outputs: { text: 'string' },
    },
  ],
}
const run = async (inner: object, said: string, parent: object = PARENT, more: object = {}) => {
  writeFileSync(join(open.folder, 'inner.yaml'), JSON.stringify({ ...inner, name: 'inner' }))
  return judge(open, parent, { inputs: { said, ...more } })
}
const childOf = ({ events }: Awaited<ReturnType<typeof run>>) => {
  const started = events.find(({ type }) => type === 'block:started')
  return judgedRun(open, started?.type === 'block:started' ? (started.data.child ?? '') : '')
}

describe('what a child run merely read', () => {
  const verify = {
    id: 'verify',
    mode: 'deterministic',
    inputs: { text: { from: 'sub.text' } },
    outputs: { score: 'number' },
    deterministic: { handler: 'transform', config: { expression: '90' } },
  }
  const judgedParent = {
    ...PARENT,
    inputs: { said: 'string', file: 'file' },
    completion: { trust: { from: 'verify.score' } },
    goal_contract: contractOf(ACCURACY),
    blocks: [{ ...PARENT.blocks[0], inputs: { said: 'string', file: 'file' } }, verify],
  }
  const read = {
    id: 'read',
    mode: 'deterministic',
    inputs: { file: 'file' },
    outputs: { text: 'string' },
    deterministic: { handler: 'read-input' },
  }
  const hand = {
    id: 'work',
    mode: 'deterministic',
    inputs: { text: { from: 'read.text' } },
    outputs: { text: 'string' },
    deterministic: { handler: 'transform', config: { expression: 'inputs.text' } },
  }

  test.each([
    ['at once', [{ ...read, id: 'work' }]],
    ['after another block had it', [read, hand]],
  ])('is no evidence of its parent either, handed on %s', async (_how, blocks) => {
    const { ref } = await open.place.world.objects.put('main', new TextEncoder().encode('[METRIC:accuracy] 0.95\n'))
    const judged = await run({ inputs: { said: 'string', file: 'file' }, blocks }, 'x', judgedParent, { file: ref })
    expect(judged.evaluation?.completion.criteria[0]?.status).toBe('NOT_MET')
    expect(judged.end.type).toBe('run:partial')
  })
})

describe('a child run with a goal of its own', () => {
  test('is judged itself, and its parent takes what it made only when the goal is reached', async () => {
    const parent = await run(judgedDag(contractOf(ACCURACY)), '[METRIC:accuracy] 0.95')
    expect(parent.end.type).toBe('run:completed')
    expect(parent.meta.goal).toBeUndefined()
    expect((await childOf(parent)).end).toMatchObject({ type: 'run:completed', data: { final_status: 'SUCCESS' } })
  })

  test('that ends partial fails the block, with what was met', async () => {
    const parent = await run(judgedDag(contractOf(ACCURACY)), '[METRIC:accuracy] 0.75')
    const failed = parent.events.find(({ type }) => type === 'block:failed')
    expect(failed?.data).toMatchObject({
      code: 'child_partial',
      reason: expect.stringContaining('ended partial: Goal criteria not met: 0/1 criteria passed (PASS x NOT_MET)'),
    })
    expect(parent.end).toMatchObject({ type: 'run:failed', data: { code: 'child_partial' } })
    expect((await childOf(parent)).end.type).toBe('run:partial')
  })

  test('that ends blocked fails it for good', async () => {
    const contract = { ...contractOf(ACCURACY), max_goal_attempts: 1 }
    const [sub] = PARENT.blocks
    const retry = { max_attempts: 3, backoff: 'none', delay_ms: 0 }
    const retrying = { ...PARENT, blocks: [{ ...sub, retry }] }
    const parent = await run(judgedDag(contract), '[METRIC:accuracy] 0.75', retrying)
    const ends = parent.events.filter(({ type }) => type === 'block:failed' || type === 'block:retrying')
    expect(ends.map(({ type, data }) => [type, (data as { code: string }).code])).toEqual([
      ['block:failed', 'child_blocked'],
    ])
    const { reason } = parent.end.data
    expect(reason).toContain('0/1 criteria passed; The goal is blocked: Maximum attempts reached')
  })

  test('is refused where it needs a contract and has none', async () => {
    const parent = await run(judgedDag(undefined, { contract: 'required' }), 'x')
    expect(parent.end.data.code).toBe('goal_contract_missing')
  })

  test('leaves the goal of its parent alone: that reads what the block took over', async () => {
    const completion = { trust: { from: 'verify.score' } }
    const verify = {
      id: 'verify',
      mode: 'deterministic',
      deterministic: { handler: 'transform', config: { expression: '90' } },
    }
    const blocks = [
      ...PARENT.blocks,
      { ...verify, inputs: { text: { from: 'sub.text' } }, outputs: { score: 'number' } },
    ]
    const parent = { ...PARENT, completion, goal_contract: contractOf(ACCURACY), blocks }
    const judged = await run(judgedDag(contractOf({ ...ACCURACY, target: 0.7 })), '[METRIC:accuracy] 0.75', parent)
    expect(judged.end).toMatchObject({ type: 'run:partial', data: { row: 'PASS x NOT_MET' } })
    expect(judged.evaluation?.completion.criteria[0]).toMatchObject({ actual: 0.75, source: { block: 'sub' } })
    expect((await childOf(judged)).end.data.final_status).toBe('SUCCESS')
  })
})
