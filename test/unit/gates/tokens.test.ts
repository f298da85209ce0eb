import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const used = (tokens?: number | null) =>
  factsOf({}, { measured: { cost_usd: null, latency_ms: null, ...(tokens === undefined ? {} : { tokens }) } })

describe('tokens', () => {
  test('passes up to max and fails beyond', async () => {
    expect((await judged({ type: 'tokens', max: 100 }, used(100))).passed).toBe(true)
    expect((await judged({ type: 'tokens', max: 0 }, used(0))).passed).toBe(true)
    expect((await judged({ type: 'tokens', max: 100 }, used(101))).reason).toBe('must use at most 100 tokens, used 101')
  })

  test.each([[null], [undefined], [-1], [Number.NaN], [Number.POSITIVE_INFINITY]])(
    '%s is not known: it fails unless the document says otherwise',
    async (tokens) => {
      expect((await judged({ type: 'tokens', max: 1 }, used(tokens))).passed).toBe(false)
      expect((await judged({ type: 'tokens', max: 1, not: true }, used(tokens))).passed).toBe(false)
    },
  )

  test('unknown: pass', async () => {
    expect((await judged({ type: 'tokens', max: 1, unknown: 'pass' }, used(null))).passed).toBe(true)
    expect((await judged({ type: 'tokens', max: 1, unknown: 'pass' }, used(2))).passed).toBe(false)
  })

  test.each([[-1], [0.5], ['1'], [undefined]])('refuses max %j at parse', (max) => {
    expect(refusals({ type: 'tokens', max })).toHaveLength(1)
  })

  test('the number is part of the input hash, and passes exactly up to max', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(50), fc.nat(50), fc.nat(50), async (a, b, max) => {
        const [first, second] = [
          await judged({ type: 'tokens', max }, used(a)),
          await judged({ type: 'tokens', max }, used(b)),
        ]
        expect(first.passed).toBe(a <= max)
        expect(first.input_hash === second.input_hash).toBe(a === b)
      }),
      { numRuns: 50 },
    )
  })
})
