import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { retryDelayMs } from '../../../../infra/local/asl/retry-and-catch.ts'
import { errorEquals, functionError } from '../../../../infra/local/asl/state-error.ts'

describe('errorEquals()', () => {
  test.each<[readonly string[], string, boolean]>([
    [['Oops'], 'Oops', true],
    [['Oops'], 'oops', false],
    [['States.ALL'], 'Oops', true],
    [['States.ALL'], 'States.Timeout', true],
    [['States.ALL'], 'States.QueryEvaluationError', true],
    [['States.ALL'], 'States.DataLimitExceeded', false],
    [['States.ALL'], 'States.Runtime', false],
    [['States.Runtime'], 'States.Runtime', false],
    [['States.DataLimitExceeded'], 'States.DataLimitExceeded', true],
    [['States.TaskFailed'], 'Oops', true],
    [['States.TaskFailed'], 'States.Timeout', false],
    [['States.TaskFailed'], 'States.DataLimitExceeded', false],
    [['States.TaskFailed', 'States.Timeout'], 'States.Timeout', true],
  ])('%j and %s: %s', (names, error, matches) => expect(errorEquals(names, error)).toBe(matches))
})

describe('retryDelayMs()', () => {
  const rule = {
    ErrorEquals: ['E'],
    IntervalSeconds: 2,
    BackoffRate: 1.5,
    MaxAttempts: 500,
    MaxDelaySeconds: 60,
  } as const
  test('grows by BackoffRate up to MaxDelaySeconds', () => {
    const delays = [0, 1, 2, 8, 400].map((used) => retryDelayMs(rule, used, () => new Uint8Array(4)))
    expect(delays).toEqual([2_000, 3_000, 4_500, 51_258, 60_000])
  })
  test('FULL jitter stays between nothing and the delay, at both ends of the random bytes', () => {
    const jittered = { ...rule, JitterStrategy: 'FULL' } as const
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.nat(500), (bytes, used) => {
        const delay = retryDelayMs(jittered, used, () => bytes)
        expect(delay).toBeGreaterThanOrEqual(0)
        expect(delay).toBeLessThanOrEqual(retryDelayMs(rule, used, () => bytes))
      }),
    )
    expect(retryDelayMs(jittered, 0, () => new Uint8Array(4).fill(255))).toBe(2_000)
    expect(retryDelayMs(jittered, 0, () => new Uint8Array(4))).toBe(0)
  })
})

describe('functionError()', () => {
  test('has the Cause Lambda gives an Error, at most 32,768 characters', () => {
    const error = Object.assign(new Error('why'), { name: 'Unavailable', stack: 'Unavailable: why\n    at x' })
    const { error: name, cause_text } = functionError(error)
    expect([name, JSON.parse(cause_text)]).toEqual([
      'Unavailable',
      { errorType: 'Unavailable', errorMessage: 'why', trace: ['Unavailable: why', '    at x'] },
    ])
    expect(functionError(new Error('x'.repeat(50_000))).cause_text).toHaveLength(32_768)
  })
})
