import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const spent = (cost_usd: number | null) => factsOf({}, { measured: { cost_usd, latency_ms: null } })

describe('cost', () => {
  test('passes up to max and fails beyond', async () => {
    expect((await judged({ type: 'cost', max: 0.5 }, spent(0.5))).passed).toBe(true)
    expect((await judged({ type: 'cost', max: 0 }, spent(0))).passed).toBe(true)
    expect((await judged({ type: 'cost', max: 0.5 }, spent(0.51))).reason).toBe(
      'must cost at most 0.5 USD, cost 0.51 USD',
    )
  })

  test('an unknown price fails unless the document says otherwise', async () => {
    expect((await judged({ type: 'cost', max: 1 }, spent(null))).reason).toMatch(/not known/)
    expect((await judged({ type: 'cost', max: 1, unknown: 'pass' }, spent(null))).passed).toBe(true)
  })

  test.each([[Number.NaN], [-1], [Number.NEGATIVE_INFINITY]])('a price of %s never passes', async (usd) => {
    expect((await judged({ type: 'cost', max: 1 }, spent(usd))).passed).toBe(false)
  })

  test.each([[-0.01], ['1'], [undefined], [Number.NaN]])('refuses max %j at parse', (max) => {
    expect(refusals({ type: 'cost', max })).toHaveLength(1)
  })

  test('the price is part of the input hash', async () => {
    const hashes = await Promise.all([0.1, 0.2, null].map((usd) => judged({ type: 'cost', max: 1 }, spent(usd))))
    expect(new Set(hashes.map(({ input_hash }) => input_hash)).size).toBe(3)
  })

  test('passes exactly for a price between nothing and max', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ noNaN: true }),
        fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
        async (usd, max) => {
          expect((await judged({ type: 'cost', max }, spent(usd))).passed).toBe(usd >= 0 && usd <= max)
        },
      ),
    )
  })
})
