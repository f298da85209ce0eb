import { describe, expect, test } from 'vitest'
import { DECISION_TABLE, decideFinalStatus, FINAL_STATUSES } from '../../../shared/goals/decision-table.ts'

const given = { trust_passed: true, quality_passed: true, goal_status: 'MET', claimed_status: 'SUCCESS' } as const

describe('decideTwoGates()', () => {
  test.each([
    ['PASS', 'MET', 'SUCCESS', 'accept'],
    ['PASS', 'NOT_MET', 'PARTIAL', 'pivot'],
    ['PASS', 'BLOCKED', 'BLOCKED', 'none'],
    ['FAIL', 'MET', 'PARTIAL', 'rework_trust'],
    ['FAIL', 'NOT_MET', 'PARTIAL', 'rework_and_pivot'],
    ['FAIL', 'BLOCKED', 'BLOCKED', 'none'],
    ['PASS', 'NO_CONTRACT', 'SUCCESS', 'accept'],
    ['FAIL', 'NO_CONTRACT', 'PARTIAL', 'rework_trust'],
  ] as const)('trust %s, goal %s: %s, next %s', (trust, goal_status, final_status, action) => {
    const row = `${trust} x ${goal_status}`
    const trust_passed = trust === 'PASS'
    expect(decideFinalStatus({ ...given, trust_passed, goal_status })).toEqual({ final_status, row, action })
  })

  test.each([
    ['PASS', 'MET', 'PARTIAL', 'fix_quality'],
    ['PASS', 'NOT_MET', 'PARTIAL', 'pivot'],
    ['PASS', 'BLOCKED', 'BLOCKED', 'none'],
    ['FAIL', 'MET', 'PARTIAL', 'rework_trust'],
    ['FAIL', 'NOT_MET', 'PARTIAL', 'rework_and_pivot'],
    ['FAIL', 'BLOCKED', 'BLOCKED', 'none'],
    ['PASS', 'NO_CONTRACT', 'PARTIAL', 'fix_quality'],
    ['FAIL', 'NO_CONTRACT', 'PARTIAL', 'rework_trust'],
  ] as const)('with failed quality, trust %s, goal %s: %s, next %s', (trust, goal_status, final_status, action) => {
    const decided = decideFinalStatus({ ...given, trust_passed: trust === 'PASS', quality_passed: false, goal_status })
    expect(decided).toEqual({ final_status, row: `${trust} x ${goal_status}`, action })
  })

  test('the statuses, from best to worst', () => {
    expect(FINAL_STATUSES).toEqual(['SUCCESS', 'PARTIAL', 'BLOCKED', 'FAILED', 'ABORTED'])
  })

  const cases = DECISION_TABLE.flatMap(({ trust, goal }) =>
    [true, false].flatMap((quality) => FINAL_STATUSES.map((claim) => [trust, goal, quality, claim] as const)),
  )
  test.each(cases)('trust %s, goal %s, quality %s never upgrade a claimed %s', (trust, goal, quality, claim) => {
    const gates = { trust_passed: trust === 'PASS', goal_status: goal, quality_passed: quality }
    const free = decideFinalStatus({ ...gates, claimed_status: 'SUCCESS' })
    const worse = FINAL_STATUSES.indexOf(claim) > FINAL_STATUSES.indexOf(free.final_status)
    // Where the claim decides, there is nothing the gates want done.
    const expected = worse ? { ...free, final_status: claim, action: 'none' } : free
    expect(decideFinalStatus({ ...gates, claimed_status: claim })).toEqual(expected)
  })

  test('a goal status nobody knows is no SUCCESS', () => {
    const goal_status = 'met' as unknown as 'MET'
    expect(decideFinalStatus({ ...given, goal_status })).toEqual({
      final_status: 'PARTIAL',
      row: 'PASS x met',
      action: 'none',
    })
  })
})
