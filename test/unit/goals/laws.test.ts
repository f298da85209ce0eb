import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Completion, evaluateCompletion } from '../../../shared/goals/completion.ts'
import { atMost } from '../../how-much.ts'
import { anyGoal } from './any-goal.ts'
import { type AskedOfOracle, oracle } from './oracle.ts'

/** `GOAL_CASES=100000 npx vitest run --project unit test/unit/goals/laws.test.ts` for the long run. */
const CASES = Number(process.env.GOAL_CASES ?? atMost(3_000, 1_000))

function evaluate({ output, artifacts, trust_score, ...rest }: AskedOfOracle): Completion {
  return evaluateCompletion({
    ...rest,
    texts: [{ text: output }],
    artifacts: artifacts.map((name) => ({ name })),
    trust_scores: [trust_score],
  }).completion
}

test('the gates say what the specification says, and SUCCESS only where everything holds', { timeout: 600_000 }, () => {
  const rows = new Map<string, number>()
  fc.assert(
    fc.property(anyGoal, (asked) => {
      const { criteria, quality, ...told } = evaluate(asked)
      const expected = oracle(asked)
      const short = {
        goal_status: told.goal_status,
        criteria: criteria.map(({ status }) => status),
        met_count: told.met_count,
        trust_passed: told.trust_passed,
        quality: { passed: quality.passed, score: quality.score },
        row: told.row,
        final_status: told.final_status,
        action: told.action,
      }
      expect(short).toEqual(expected)
      if (told.final_status === 'SUCCESS') {
        expect(criteria.filter(({ status }) => status !== 'MET')).toEqual([])
        expect([told.trust_passed, quality.passed, asked.claimed_status]).toEqual([true, true, 'SUCCESS'])
        expect(asked.contract === undefined || criteria.length > 0).toBe(true)
      }
      const seen = `${told.row} ${told.final_status}`
      rows.set(seen, (rows.get(seen) ?? 0) + 1)
    }),
    { numRuns: CASES },
  )
  // Every row was reached, and SUCCESS often enough to mean something.
  const reached = new Set([...rows.keys()].map((seen) => seen.split(' ').slice(0, 3).join(' ')))
  expect(reached.size).toBe(8)
  expect((rows.get('PASS x MET SUCCESS') ?? 0) / CASES).toBeGreaterThan(0.01)
})
