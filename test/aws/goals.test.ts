import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { ACCURACY, contractOf, judgedDag, passing, VERIFIED, writer } from '../integration/goals/goal-place.ts'
import { isEnd } from './caller.ts'
import { problemsOf } from './invariants.ts'
import { shippedStack } from './shipped-stack.ts'

/**
 * Runs with goals on the synthesized stacks: `_decide_completion` as a function with its own role, evidence in S3, its
 * attempts in DynamoDB.
 */
const aws = shippedStack()

const FILE = { id: 'AC2', kind: 'artifact_exists', artifactPattern: 'out/*.md' }
const COMPLETION = { ...VERIFIED, blockers: 'stop.blockers' }
const DAG = judgedDag(contractOf(ACCURACY, FILE), COMPLETION, [
  passing('stop', 'blockers'),
  writer('write', 'work.text', 'out/report.md'),
])
const MET = '[METRIC:accuracy] 0.95'

async function endOf(id: string, dag: object = DAG) {
  const events = await aws.caller.until(id, isEnd)
  expect(problemsOf(events, JSON.stringify(dag))).toEqual([])
  const evaluated = events.filter((event) => event.type === 'goal:evaluated')
  return { events, end: events.at(-1) as RunEvent, evaluated }
}
const run = async (inputs: object, more: object = {}) =>
  endOf(await aws.caller.start({ dag: DAG, inputs: { blockers: [], ...inputs }, ...more }))
const decisionsOf = (id: string) =>
  aws.place.deliveries.filter(({ arn, run_id }) => run_id === id && arn.endsWith('decide-completion')).length

describe('runs with goals on AWS', () => {
  test.each([
    ['completed', 'PASS x MET', { said: MET }],
    ['partial', 'PASS x NOT_MET', { said: '[METRIC:accuracy] 0.75' }],
    ['blocked', 'PASS x BLOCKED', { said: MET, blockers: ['no data'] }],
    ['partial', 'FAIL x MET', { said: MET, score: 79.9 }],
  ])('end %s: %s', async (state, row, inputs) => {
    const { end, evaluated } = await run(inputs)
    expect(end).toMatchObject({ type: `run:${state}`, data: { row } })
    expect(evaluated).toHaveLength(1)
    const { json } = await aws.caller.call('GET', `/api/dag/runs/${end.run_id}/goal`)
    expect(json).toMatchObject({ row, criteria: [{}, { status: 'MET', source: { block: 'write' } }] })
  })

  test('are refused with a contract that is malformed, and take one of the request instead of their document', async () => {
    const body = { dag: DAG, inputs: { blockers: [], said: '[METRIC:accuracy] 0.75' } }
    const refused = await aws.caller.call('POST', '/api/dag/run', { ...body, goal_contract: { goal_text: 'x' } })
    expect([refused.status, refused.json.code]).toEqual([400, 'goal_contract_invalid'])
    const { end } = await run(body.inputs, { goal_contract: contractOf({ ...ACCURACY, target: 0.7 }) })
    expect(end).toMatchObject({ type: 'run:completed', data: { final_status: 'SUCCESS' } })
  })

  test('are decided once, also where every call of the machine arrives twice', async () => {
    const key = 'twice'
    const ids: string[] = []
    for (let n = 0; n < 4; n += 1) {
      const id = await aws.caller.start(
        { dag: DAG, inputs: { blockers: [], said: '[METRIC:accuracy] 0.75' } },
        { 'idempotency-key': `${key}-${n}` },
      )
      aws.place.twice.add(id)
      ids.push(id)
    }
    for (const id of ids) {
      const { evaluated, end } = await endOf(id)
      expect(evaluated).toHaveLength(1)
      expect(evaluated[0]?.data).toMatchObject({ attempt: 1 })
      expect(end.type).toBe('run:partial')
      expect(decisionsOf(id)).toBe(1)
    }
  })

  test('that have no goal never ask for a decision', async () => {
    const { completion: _c, goal_contract: _g, ...plain } = DAG as { completion: object; goal_contract: object }
    const id = await aws.caller.start({ dag: plain, inputs: { blockers: [], said: MET } })
    const { end, evaluated } = await endOf(id, plain)
    expect([end.type, evaluated, decisionsOf(id)]).toEqual(['run:completed', [], 0])
  })
})
