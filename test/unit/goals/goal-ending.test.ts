import { expect, test } from 'vitest'
import { goalEnding } from '../../../shared/goals/goal-ending.ts'
import { DECISION_TABLE, decideTwoGates, FINAL_STATUSES } from '../../../shared/goals/two-gates.ts'
import { evaluated } from './evaluated.ts'

const { completion } = evaluated({ output: '' })
const endingOf = (given: Parameters<typeof decideTwoGates>[0]) =>
  goalEnding({ ...completion, ...decideTwoGates(given), goal_status: given.goal_status }, 'all 2 blocks completed')

test('every row ends the run as its final status says, and completed only where that is SUCCESS', () => {
  const told = DECISION_TABLE.flatMap(({ trust, goal }) =>
    [true, false].map((quality_passed) => {
      const given = {
        trust_passed: trust === 'PASS',
        goal_status: goal,
        quality_passed,
        claimed_status: 'SUCCESS' as const,
      }
      const { final_status, state, code, row } = endingOf(given)
      expect(state === 'completed').toBe(final_status === 'SUCCESS')
      return `${row}, quality ${quality_passed ? 'passed' : 'failed'}: ${state} ${code}`
    }),
  )
  expect(told).toEqual([
    'PASS x MET, quality passed: completed completed',
    'PASS x MET, quality failed: partial quality_failed',
    'PASS x NOT_MET, quality passed: partial goal_missed',
    'PASS x NOT_MET, quality failed: partial goal_missed',
    'PASS x BLOCKED, quality passed: blocked goal_out_of_reach',
    'PASS x BLOCKED, quality failed: blocked goal_out_of_reach',
    'FAIL x MET, quality passed: partial trust_failed',
    'FAIL x MET, quality failed: partial trust_failed',
    'FAIL x NOT_MET, quality passed: partial goal_missed',
    'FAIL x NOT_MET, quality failed: partial goal_missed',
    'FAIL x BLOCKED, quality passed: blocked goal_out_of_reach',
    'FAIL x BLOCKED, quality failed: blocked goal_out_of_reach',
    'PASS x NO_CONTRACT, quality passed: completed completed',
    'PASS x NO_CONTRACT, quality failed: partial quality_failed',
    'FAIL x NO_CONTRACT, quality passed: partial trust_failed',
    'FAIL x NO_CONTRACT, quality failed: partial trust_failed',
  ])
})

test('a claim that is worse names itself; one the gates agree with does not', () => {
  const met = { trust_passed: true, goal_status: 'MET', quality_passed: true } as const
  const missed = { ...met, goal_status: 'NOT_MET' } as const
  const blocked = { ...met, goal_status: 'BLOCKED' } as const
  const codes = (given: typeof met | typeof missed | typeof blocked) =>
    FINAL_STATUSES.map((claimed_status) => endingOf({ ...given, claimed_status }).code)
  const worse = ['claimed_failed', 'claimed_aborted']
  expect(codes(met)).toEqual(['completed', 'claimed_partial', 'claimed_blocked', ...worse])
  expect(codes(missed)).toEqual(['goal_missed', 'goal_missed', 'claimed_blocked', ...worse])
  expect(codes(blocked)).toEqual(['goal_out_of_reach', 'goal_out_of_reach', 'goal_out_of_reach', ...worse])
})
