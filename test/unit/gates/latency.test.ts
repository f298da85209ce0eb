import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const took = (latency_ms: number | null) => factsOf({}, { measured: { cost_usd: null, latency_ms } })

describe('latency', () => {
  test('passes up to max_ms and fails beyond', async () => {
    expect((await judged({ type: 'latency', max_ms: 100 }, took(100))).passed).toBe(true)
    expect((await judged({ type: 'latency', max_ms: 100 }, took(101))).reason).toBe(
      'must take at most 100 ms, took 101 ms',
    )
  })

  test.each([[null], [Number.NaN], [-5]])('a time of %s fails', async (ms) => {
    expect((await judged({ type: 'latency', max_ms: 100 }, took(ms))).passed).toBe(false)
  })

  test.each([[-1], ['100'], [undefined]])('refuses max_ms %j at parse', (max_ms) => {
    expect(refusals({ type: 'latency', max_ms })).toHaveLength(1)
  })

  test('the time is part of the input hash', async () => {
    const [one, two] = await Promise.all([1, 2].map((ms) => judged({ type: 'latency', max_ms: 9 }, took(ms))))
    expect(one?.input_hash).not.toBe(two?.input_hash)
  })

  test('a slower attempt never passes where a faster one failed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), fc.nat(), async (max_ms, faster, more) => {
        const [first, second] = await Promise.all(
          [faster, faster + more].map((ms) => judged({ type: 'latency', max_ms }, took(ms))),
        )
        expect(second?.passed === true && first?.passed === false).toBe(false)
      }),
    )
  })
})
