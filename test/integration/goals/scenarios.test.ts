import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCENARIOS, SUPPORTED } from '../../unit/goals/scenario-contracts.ts'
import type { TestPlace } from '../test-place.ts'
import { judge, openGoalPlace } from './goal-place.ts'

/** The four scenarios of the plan the two gates come from, run whole, their contracts in its own YAML. */
let open: TestPlace
beforeAll(async () => {
  open = await openGoalPlace()
})
afterAll(() => open.close())

const DAG = `name: research
inputs: { said: string, score: number }
completion: { trust: { from: verify.trust_score } }
blocks:
  - id: research
    mode: deterministic
    deterministic: { handler: transform, config: { expression: inputs.said } }
    inputs: { said: string }
    outputs: { report: string }
  - id: verify
    mode: deterministic
    deterministic: { handler: transform, config: { expression: inputs.score } }
    inputs: { score: number, report: { from: research.report } }
    outputs: { trust_score: number }
`
const run = (contract: string, said: string, score: number) =>
  judge(open, `${DAG}${contract}` as unknown as object, { inputs: { said, score } })
const messagesOf = ({ evaluation }: Awaited<ReturnType<typeof run>>) =>
  evaluation?.completion.warnings.map(({ message }) => message)

test('1: the accuracy asked for is reached: SUCCESS', async () => {
  const contract = SCENARIOS.reached
  const judged = await run(contract, '[METRIC:cv_accuracy_mean] 0.85', 90)
  expect(judged.end).toMatchObject({ type: 'run:completed', data: { final_status: 'SUCCESS', row: 'PASS x MET' } })
  expect(messagesOf(judged)).toEqual([])
})

test('2: perfect evidence for 75 % where 90 % was asked for: PARTIAL, downgraded from SUCCESS', async () => {
  const contract = SCENARIOS.missed
  const said = `[METRIC:cv_accuracy_mean] 0.75\n${SUPPORTED}[FINDING] The model is better than chance`
  const judged = await run(contract, said, 85)
  expect(judged.end).toMatchObject({ type: 'run:partial', data: { final_status: 'PARTIAL', row: 'PASS x NOT_MET' } })
  expect(messagesOf(judged)).toEqual(['Goal criteria not met: 0/1 criteria passed'])
  expect(judged.evaluation?.completion).toMatchObject({ action: 'pivot', quality: { passed: true, score: 100 } })
})

test('3: research from before there were contracts: the goal gate is skipped, SUCCESS', async () => {
  const judged = await run('', `${SUPPORTED}[FINDING] Churn falls with tenure`, 82)
  expect(judged.end).toMatchObject({ type: 'run:completed', data: { final_status: 'SUCCESS' } })
  expect(judged.evaluated?.data).toMatchObject({ status: 'NO_CONTRACT', met: 0, total: 0, row: 'PASS x NO_CONTRACT' })
  expect(messagesOf(judged)).toEqual([])
})

test('4: one verified finding where two were asked for: PARTIAL with 2/3', async () => {
  const contract = SCENARIOS.analysis
  const said = `[METRIC:cv_accuracy_mean] 0.78\n[METRIC:baseline_accuracy] 0.61\n${SUPPORTED}[FINDING] Tenure matters`
  const judged = await run(contract, said, 85)
  expect(judged.end).toMatchObject({ type: 'run:partial', data: { final_status: 'PARTIAL' } })
  expect(judged.evaluated?.data).toMatchObject({ met: 2, total: 3 })
  expect(messagesOf(judged)).toEqual(['Goal criteria not met: 2/3 criteria passed'])
  expect(judged.evaluation?.completion.criteria.map(({ id, status, actual }) => [id, status, actual])).toEqual([
    ['AC1', 'MET', 0.78],
    ['AC2', 'MET', 'METRIC:baseline_accuracy'],
    ['AC3', 'NOT_MET', 1],
  ])
})
