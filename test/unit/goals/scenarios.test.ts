import { expect, test } from 'vitest'
import { evaluated } from './evaluated.ts'
import { SCENARIOS, SUPPORTED } from './scenario-contracts.ts'

/** The four scenarios of the plan the two gates come from, in its own YAML, which has no `version`. */

test('1: the accuracy asked for is reached: SUCCESS', () => {
  const contract = SCENARIOS.reached
  const { completion } = evaluated({ contract, output: '[METRIC:cv_accuracy_mean] 0.85', trust: 90 })
  expect(completion).toMatchObject({ final_status: 'SUCCESS', row: 'PASS x MET', action: 'accept', warnings: [] })
})

test('2: perfect evidence for 75 % where 90 % was asked for: PARTIAL, downgraded from SUCCESS', () => {
  const contract = SCENARIOS.missed
  const output = `[METRIC:cv_accuracy_mean] 0.75\n${SUPPORTED}[FINDING] The model is better than chance`
  const { completion } = evaluated({ contract, output, trust: 85, claimed_status: 'SUCCESS' })
  expect(completion).toMatchObject({
    final_status: 'PARTIAL',
    row: 'PASS x NOT_MET',
    action: 'pivot',
    trust_passed: true,
    quality: { passed: true, score: 100 },
  })
  expect(completion.warnings).toEqual([
    { code: 'GOAL_NOT_MET', message: 'Goal criteria not met: 0/1 criteria passed', severity: 'warning' },
  ])
})

test('3: research from before there were contracts: the goal gate is skipped, SUCCESS', () => {
  const output = `${SUPPORTED}[FINDING] Churn falls with tenure`
  const { completion } = evaluated({ output, trust: 82 })
  expect(completion).toMatchObject({
    final_status: 'SUCCESS',
    goal_status: 'NO_CONTRACT',
    met_count: 0,
    total_count: 0,
    row: 'PASS x NO_CONTRACT',
    warnings: [],
    criteria: [],
  })
})

test('4: one verified finding where two were asked for: PARTIAL with 2/3', () => {
  const contract = SCENARIOS.analysis
  const output = `[METRIC:cv_accuracy_mean] 0.78\n[METRIC:baseline_accuracy] 0.61\n${SUPPORTED}[FINDING] Tenure matters`
  const { completion } = evaluated({ contract, output, trust: 85 })
  expect(completion.final_status).toBe('PARTIAL')
  expect(completion.warnings.map(({ message }) => message)).toEqual(['Goal criteria not met: 2/3 criteria passed'])
  expect(completion.criteria.map(({ id, status, actual }) => [id, status, actual])).toEqual([
    ['AC1', 'MET', 0.78],
    ['AC2', 'MET', 'METRIC:baseline_accuracy'],
    ['AC3', 'NOT_MET', 1],
  ])
})
