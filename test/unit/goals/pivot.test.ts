import { describe, expect, test } from 'vitest'
import {
  approachFingerprint,
  failedAttempt,
  type GoalAttempt,
  markBlockedByHistory,
  recommendPivot,
} from '../../../shared/goals/pivot.ts'
import { evaluateGoalGate } from './evaluate-goal-gate.ts'
import { ACCURACY, contractOf, evaluated } from './evaluated.ts'

const BASELINE = { kind: 'marker_required', marker: 'METRIC:baseline' }
const TWO = contractOf(ACCURACY, BASELINE)
const attempt = (fingerprint: string, ...unmet: readonly string[]): GoalAttempt => ({ fingerprint, unmet })
const afterAttempts = (prior_attempts: readonly GoalAttempt[], output = 'Tried.', contract: object = TWO) =>
  evaluated({ contract, output, prior_attempts }).completion

describe('attempts', () => {
  test('the third of three that fails is BLOCKED, the ones before are PARTIAL', () => {
    const failed: GoalAttempt = { unmet: ['AC1'] }
    expect(afterAttempts([])).toMatchObject({ final_status: 'PARTIAL', pivot: { attemptNumber: 1, shouldPivot: true } })
    expect(afterAttempts([failed])).toMatchObject({
      final_status: 'PARTIAL',
      pivot: { attemptNumber: 2, shouldPivot: true },
    })
    const last = afterAttempts([failed, failed])
    expect(last).toMatchObject({
      final_status: 'BLOCKED',
      goal_status: 'BLOCKED',
      row: 'PASS x BLOCKED',
      action: 'none',
      pivot: { attemptNumber: 3, maxAttempts: 3, shouldPivot: false },
    })
    expect(last.warnings.map(({ code, message }) => [code, message])).toEqual([
      ['GOAL_NOT_MET', 'Goal criteria not met: 0/2 criteria passed'],
      ['GOAL_BLOCKED', 'The goal is blocked: Maximum attempts reached'],
    ])
    expect(last.criteria.map(({ status }) => status)).toEqual(['NOT_MET', 'NOT_MET'])
    expect(afterAttempts([failed, failed, failed])).toMatchObject({
      final_status: 'BLOCKED',
      pivot: { attemptNumber: 4 },
    })
  })

  test('met on the last attempt is SUCCESS', () => {
    const met = afterAttempts([attempt('a', 'AC1'), attempt('b', 'AC1')], '[METRIC:accuracy] 1\n[METRIC:baseline] 0')
    expect(met).toMatchObject({ final_status: 'SUCCESS', goal_status: 'MET', warnings: [] })
    expect(met.pivot).toEqual({
      shouldPivot: false,
      attemptNumber: 3,
      maxAttempts: 3,
      suggestions: [],
      unachievable: [],
    })
  })

  test('the contract says how many there are', () => {
    expect(afterAttempts([], '', { ...TWO, max_goal_attempts: 1 })).toMatchObject({
      final_status: 'BLOCKED',
      pivot: { maxAttempts: 1 },
    })
    expect(afterAttempts([{ unmet: [] }, { unmet: [] }], '', { ...TWO, max_goal_attempts: 4 }).final_status).toBe(
      'PARTIAL',
    )
  })

  test('failed trust changes nothing about it', () => {
    const [first, last] = [[], [{ unmet: [] }, { unmet: [] }]].map(
      (prior_attempts) => evaluated({ contract: TWO, trust: 10, prior_attempts }).completion,
    )
    expect(first).toMatchObject({ row: 'FAIL x NOT_MET', action: 'rework_and_pivot', pivot: { shouldPivot: true } })
    expect(last).toMatchObject({ row: 'FAIL x BLOCKED', final_status: 'BLOCKED', action: 'none' })
  })
})

describe('Unachievable', () => {
  const failed = [attempt('a', 'AC1'), attempt('b', 'AC1', 'AC2')]
  const patient = { ...TWO, max_goal_attempts: 9 }

  test('a criterion that two distinct approaches failed before and this one fails too is BLOCKED', () => {
    const completion = afterAttempts(failed, '[METRIC:accuracy] 0.8', patient)
    expect(completion).toMatchObject({ goal_status: 'BLOCKED', final_status: 'BLOCKED', row: 'PASS x BLOCKED' })
    expect(completion.pivot).toMatchObject({ shouldPivot: false, unachievable: ['AC1'], attemptNumber: 3 })
    const message =
      'Unachievable: two distinct approaches or more failed criterion "AC1" before this one; accuracy is 0.8, wanted: >= 0.9'
    expect(completion.criteria).toMatchObject([
      { id: 'AC1', status: 'BLOCKED', message, actual: 0.8 },
      { id: 'AC2', status: 'NOT_MET' },
    ])
    expect(completion.warnings.at(-1)?.message).toBe(`The goal is blocked: ${message}`)
  })

  test.each<[string, readonly GoalAttempt[]]>([
    ['one approach, twice', [attempt('a', 'AC1'), attempt('a', 'AC1')]],
    ['one approach', [attempt('a', 'AC1')]],
    ['approaches that failed other criteria', [attempt('a', 'AC1'), attempt('b', 'AC2')]],
    ['approaches nobody knows', [{ unmet: ['AC1'] }, { unmet: ['AC1'] }]],
    ['one that is known, one that is not', [attempt('a', 'AC1'), { unmet: ['AC1'] }]],
    ['criteria of other names', [attempt('a', 'AC'), attempt('b', 'AC11')]],
  ])('%s does not prove it', (_, prior) => {
    const { final_status, pivot } = afterAttempts(prior, '', patient)
    expect(final_status).toBe('PARTIAL')
    expect(pivot).toMatchObject({ shouldPivot: true, unachievable: [] })
  })

  test('a criterion that is met now is met, whoever failed it before', () => {
    const { criteria, goal_status } = afterAttempts(failed, '[METRIC:accuracy] 1', patient)
    expect(goal_status).toBe('NOT_MET')
    expect(criteria.map(({ status }) => status)).toEqual(['MET', 'NOT_MET'])
    expect(afterAttempts(failed, '[METRIC:accuracy] 1\n[METRIC:baseline] 1', patient).final_status).toBe('SUCCESS')
  })

  test('on the last attempt both reasons are told', () => {
    const { warnings } = afterAttempts(failed, 'Tried.', TWO)
    expect(warnings.map(({ message }) => message.slice(0, 40))).toEqual([
      'Goal criteria not met: 0/2 criteria pass',
      'The goal is blocked: Unachievable: two d',
      'The goal is blocked: Maximum attempts re',
    ])
  })
})

describe('recommendPivot()', () => {
  const gate = (output: string, contract: object = TWO) => evaluateGoalGate(contract, output, [])

  test('has one suggestion for each criterion that is not met', () => {
    expect(recommendPivot(gate('[METRIC:accuracy] 0.75'), [])).toEqual({
      shouldPivot: true,
      attemptNumber: 1,
      maxAttempts: 3,
      suggestions: [
        'AC1: Change the approach so that accuracy is >= 0.9: now 0.75 (gap -0.15, -16.7 % of the target)',
        'AC2: Print a line "[METRIC:baseline] ..." where the work supports it',
      ],
      unachievable: [],
    })
  })

  test('after a failure it asks for another approach', () => {
    const [once] = recommendPivot(gate('[METRIC:baseline] 1'), [attempt('a', 'AC1', 'AC2')]).suggestions
    expect(once).toMatch(/<number>"; an earlier attempt failed it too: try another approach$/)
    const [twice] = recommendPivot(gate('[METRIC:baseline] 1'), [attempt('a', 'AC1'), attempt('a', 'AC1')]).suggestions
    expect(twice).toMatch(/<number>"; 2 earlier attempts failed it too: try another approach$/)
  })

  test('takes earlier results as history, which know no approach', () => {
    const failed = gate('')
    const pivot = recommendPivot(failed, [failed, failed])
    expect(pivot).toMatchObject({ attemptNumber: 3, shouldPivot: false, unachievable: [] })
    expect(pivot.suggestions[0]).toContain('2 earlier attempts failed it too')
    expect(recommendPivot(failed, [gate('[METRIC:accuracy] 1')]).suggestions[0]).not.toContain('earlier')
  })

  test('there is nothing to pivot to without a contract, or when the goal is met or blocked', () => {
    expect(recommendPivot(evaluateGoalGate(undefined, '', []), [])).toEqual({
      shouldPivot: false,
      attemptNumber: 1,
      maxAttempts: 3,
      suggestions: [],
      unachievable: [],
    })
    expect(evaluated({ contract: TWO, blockers: ['no data'] }).completion.pivot).toMatchObject({
      shouldPivot: false,
      suggestions: [expect.any(String), expect.any(String)],
    })
  })

  test('a claim that decides alone ends it', () => {
    for (const claimed_status of ['BLOCKED', 'FAILED', 'ABORTED']) {
      const { completion } = evaluated({ contract: TWO, claimed_status })
      expect(completion).toMatchObject({ final_status: claimed_status, action: 'none', pivot: { shouldPivot: false } })
    }
  })
})

describe('what is kept of an attempt', () => {
  const { goal } = evaluated({ contract: TWO, output: '[METRIC:baseline] 1' })

  test('is its approach and the criteria it did not meet', () => {
    expect(failedAttempt(goal, 'f1')).toEqual({ fingerprint: 'f1', unmet: ['AC1'] })
    expect(failedAttempt(goal)).toEqual({ unmet: ['AC1'] })
  })

  test('is nothing where the goal was met, skipped or blocked', () => {
    expect(failedAttempt(evaluateGoalGate(undefined, '', []), 'f')).toBeUndefined()
    expect(failedAttempt(evaluateGoalGate(contractOf(BASELINE), '[METRIC:baseline] 1', []), 'f')).toBeUndefined()
    expect(failedAttempt(evaluated({ contract: TWO, blockers: ['x'] }).goal, 'f')).toBeUndefined()
  })

  test('criteria without an id are left out', () => {
    const malformed = evaluateGoalGate({ ...TWO, acceptance_criteria: [7, { id: 7 }, { id: 'A' }, null] }, '', [])
    expect(malformed.criteriaResults.map(({ status }) => status)).toEqual(Array(4).fill('UNKNOWN'))
    expect(failedAttempt(malformed)).toEqual({ unmet: ['A'] })
  })

  test('an approach is the DAG, its inputs and the feedback, and nothing else', () => {
    const approach = { dag_hash: 'd', inputs_hash: 'i', feedback_hash: 'f' }
    const fingerprint = approachFingerprint(approach)
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/)
    const more = { ...approach, at: 'now' }
    expect(approachFingerprint(more)).toBe(fingerprint)
    for (const key of ['dag_hash', 'inputs_hash', 'feedback_hash']) {
      expect(approachFingerprint({ ...approach, [key]: 'other' })).not.toBe(fingerprint)
    }
  })
})

test('blockByHistory() leaves what is met, whatever its history says', () => {
  const result = evaluateGoalGate(TWO, '[METRIC:accuracy] 1', [])
  const pivot = { ...recommendPivot(result, []), unachievable: ['AC1', 'AC2'] }
  const { criteriaResults, blockers = [] } = markBlockedByHistory(result, pivot)
  expect(criteriaResults.map(({ status }) => status)).toEqual(['MET', 'BLOCKED'])
  expect(blockers).toHaveLength(1)
})
