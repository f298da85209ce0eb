import { expect, test } from 'vitest'
import { DECISION_TABLE, decideFinalStatus, FINAL_STATUSES } from '../../../shared/goals/decision-table.ts'
import { goalEnding } from '../../../shared/goals/goal-ending.ts'
import { ACCURACY, contractOf, evaluated } from './evaluated.ts'

const { completion } = evaluated({ output: '' })
const endingOf = (given: Parameters<typeof decideFinalStatus>[0]) =>
  goalEnding({ ...completion, ...decideFinalStatus(given), goal_status: given.goal_status }, 'all 2 blocks completed')

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

test('a run that claims to have been stopped is cancelled, and one that claims to have failed has failed', () => {
  const given = { trust_passed: true, goal_status: 'MET', quality_passed: true } as const
  const states = FINAL_STATUSES.map((claimed_status) => endingOf({ ...given, claimed_status }).state)
  expect(states).toEqual(['completed', 'partial', 'blocked', 'failed', 'cancelled'])
})

test.each([
  ['criteria that are met', { output: '[METRIC:accuracy] 1' }, '2 blocks; 1/1 criteria passed (PASS x MET)'],
  ['no contract', { contract: undefined }, '2 blocks; there is no goal contract (PASS x NO_CONTRACT)'],
  [
    'a warning beside SUCCESS',
    { contract: undefined, blockers: ['no data'] },
    '2 blocks; there is no goal contract (PASS x NO_CONTRACT); There is no goal contract to block: no data',
  ],
  ['what was missed', {}, 'Goal criteria not met: 0/1 criteria passed (PASS x NOT_MET)'],
  [
    'what was missed, all of it',
    { trust: 10 },
    'Goal criteria not met: 0/1 criteria passed; Trust gate failed: the trust score is 10 (REJECTED), 80 is needed (FAIL x NOT_MET)',
  ],
  [
    'a worse claim, of which nobody warns',
    { output: '[METRIC:accuracy] 1', claimed_status: 'PARTIAL' },
    '2 blocks; 1/1 criteria passed (PASS x MET)',
  ],
])('the reason tells %s', (_, given, reason) => {
  const judged = evaluated({ contract: contractOf(ACCURACY), ...given }).completion
  expect(goalEnding(judged, '2 blocks').reason).toBe(reason)
})
