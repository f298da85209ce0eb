import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RetryPolicy } from '../../../shared/dag/dag.ts'
import { attemptCap, retryDelayMs } from '../../../shared/runs/retry.ts'

const policy = (change: Partial<RetryPolicy>): RetryPolicy => ({
  max_attempts: 3,
  backoff: 'none',
  delay_ms: 100,
  max_delay_ms: 1_000,
  jitter: 'none',
  ...change,
})

describe('retryDelayMs()', () => {
  test.each([
    ['none', [100, 100, 100, 100, 100]],
    ['linear', [100, 200, 300, 400, 500]],
    ['exponential', [100, 200, 400, 800, 1_000]],
  ] as const)('%s grows up to max_delay_ms', (backoff, wanted) => {
    expect([1, 2, 3, 4, 5].map((attempt) => retryDelayMs(policy({ backoff }), attempt, 0.5))).toEqual(wanted)
  })

  test('full jitter stays between 0 and the capped delay', () => {
    const any = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0, max: 0.999, noNaN: true }))
    fc.assert(
      fc.property(any, ([attempt, random]) => {
        const delay = retryDelayMs(policy({ backoff: 'exponential', jitter: 'full' }), attempt, random)
        expect(delay).toBeGreaterThanOrEqual(0)
        expect(delay).toBeLessThanOrEqual(1_000)
      }),
    )
  })
})

test('attemptCap() counts 0 and 1 as one try and says when the safety policy lowered the number', () => {
  expect(attemptCap(policy({ max_attempts: 0 }), 5)).toEqual({ cap: 1, capped: false })
  expect(attemptCap(policy({ max_attempts: 5 }), 5)).toEqual({ cap: 5, capped: false })
  expect(attemptCap(policy({ max_attempts: 9 }), 5)).toEqual({ cap: 5, capped: true })
})
