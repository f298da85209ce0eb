import { expect, test } from 'vitest'
import type { EventData } from '../../shared/runs/event.ts'
import { isEnd } from './caller.ts'
import { shippedStack } from './shipped-stack.ts'

const aws = shippedStack()

const transform = (id: string, expression: string, more: object) => ({
  id,
  mode: 'deterministic',
  deterministic: { handler: 'transform', config: { expression } },
  ...more,
})

const dag = (pivot: 'manual' | 'auto') => ({
  name: `pivoted-${pivot}`,
  inputs: { accuracy: { type: 'number', default: 0.8 } },
  goal_contract: {
    goal_text: 'Nine of ten are right',
    max_goal_attempts: 2,
    acceptance_criteria: [{ id: 'AC1', kind: 'metric_threshold', metric: 'accuracy', op: '>=', target: 0.9 }],
  },
  completion: { trust: { from: 'verify.score' }, pivot },
  blocks: [
    transform('train', "'[METRIC:accuracy] ' & $string(inputs.accuracy)", {
      inputs: { accuracy: 'number' },
      outputs: { text: 'string' },
    }),
    transform('verify', '90', { inputs: { text: { from: 'train.text' } }, outputs: { score: 'number' } }),
  ],
})

async function endOf(id: string) {
  const end = (await aws.caller.until(id, isEnd)).at(-1)
  // isEnd() found it: it has the data of an end.
  return { ...(end?.data as EventData<'run:completed'>), type: end?.type }
}

const goalOf = async (id: string) => (await aws.caller.call('GET', `/api/dag/runs/${id}/goal`)).json
const pivot = (id: string, body: object) => aws.caller.call('POST', `/api/dag/runs/${id}/pivot`, body)

test('a person pivots a run that missed its goal: ten at once make one run, which reaches it', async () => {
  const first = await aws.caller.start({ dag: dag('manual') })
  expect(await endOf(first)).toMatchObject({ type: 'run:partial', final_status: 'PARTIAL', row: 'PASS x NOT_MET' })
  const body = { inputs: { accuracy: 0.95 }, feedback: 'More trees.' }
  const answers = await Promise.all(Array.from({ length: 10 }, () => pivot(first, body)))
  const made = new Set(answers.filter(({ status }) => status < 300).map(({ json }) => json.run_id))
  expect(made.size).toBe(1)
  const second = String([...made][0])
  expect(await endOf(second)).toMatchObject({ type: 'run:completed', final_status: 'SUCCESS', row: 'PASS x MET' })
  expect(await goalOf(second)).toMatchObject({ attemptNumber: 2, attempts: [{ attemptNumber: 1, run_id: first }] })
  const { json } = await aws.caller.call('GET', `/api/dag/runs/${first}`)
  expect(json).toMatchObject({ run: { pivoted_by: second }, lineage: [{ run_id: second, kind: 'pivot' }] })
  expect(await pivot(second, {})).toMatchObject({ status: 409, json: { code: 'not_to_pivot' } })
  for (const id of [first, second]) {
    const { json: verified } = await aws.caller.call('GET', `/api/dag/runs/${id}/verify`)
    expect(verified).toMatchObject({ ok: true })
  }
})

test('a run pivots by itself until its attempts are used up', async () => {
  const first = await aws.caller.start({ dag: dag('auto') })
  const { next_run } = await endOf(first)
  const last = await endOf(String(next_run))
  expect(last).toMatchObject({ type: 'run:blocked', reason: expect.stringContaining('Maximum attempts reached') })
  expect(await goalOf(first)).toMatchObject({ pivot: { mode: 'auto', shouldPivot: true, next_run } })
  expect(await goalOf(String(next_run))).toMatchObject({ final_status: 'BLOCKED', attemptNumber: 2 })
})
