import { describe, expect, test } from 'vitest'
import { judgeTrust } from '../../../shared/goals/trust-gate.ts'

describe('judgeTrust()', () => {
  test.each([
    [100, 'VERIFIED', true],
    [80, 'VERIFIED', true],
    [79.9, 'PARTIAL', false],
    [60, 'PARTIAL', false],
    [59.9, 'DOUBTFUL', false],
    [40, 'DOUBTFUL', false],
    [39.9, 'REJECTED', false],
    [0, 'REJECTED', false],
  ] as const)('%d is %s', (score, band, passed) => {
    const message = `the trust score is ${score} (${band}), 80 is needed`
    expect(judgeTrust([score])).toEqual({ score, band, passed, message })
  })

  test.each<[unknown, string]>([
    [null, 'nothing (null)'],
    [undefined, 'nothing'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [-1, '-1'],
    [-0.001, '-0.001'],
    [100.5, '100.5'],
    ['85', '"85"'],
    [true, 'true'],
    [[85], 'a list'],
    [{ trust_score: 85 }, 'a mapping'],
  ])('%j is no score and fails', (score, seen) => {
    const message = `a trust score is a number from 0 to 100, got ${seen}`
    expect(judgeTrust([score])).toEqual({ score: null, band: null, passed: false, message })
  })

  test('of several verifiers the lowest counts', () => {
    expect(judgeTrust([95, 81, 88])).toMatchObject({ score: 81, passed: true })
    expect(judgeTrust([95, 79, 100])).toMatchObject({ score: 79, passed: false, band: 'PARTIAL' })
  })

  test('one verifier without a score fails, however good the others are', () => {
    expect(judgeTrust([95, null])).toMatchObject({ score: null, passed: false })
    expect(judgeTrust([undefined, 95])).toMatchObject({ score: null, passed: false })
  })

  test('no verifier fails, and says so in words', () => {
    expect(judgeTrust([])).toEqual({
      score: null,
      band: null,
      passed: false,
      message: 'no verifier gave a trust score',
    })
  })
})
