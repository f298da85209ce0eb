import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (bounds: object) => ({ type: 'range', port: 'score', ...bounds })

describe('range', () => {
  test.each([[0], [1], ['0.5'], [-0]])('passes for %j from 0 to 1', async (score) => {
    expect((await judged(check({ min: 0, max: 1 }), factsOf({ score }))).passed).toBe(true)
  })

  test('fails with seen and wanted', async () => {
    const { reason } = await judged(check({ min: 0, max: 1 }), factsOf({ score: 1.01 }))
    expect(reason).toBe('must be at least 0 and at most 1, is 1.01')
    expect((await judged(check({ min: 3 }), factsOf({ score: '2' }))).reason).toBe('must be at least 3, is 2')
  })

  test.each([['1 '], ['one'], [true], [[1]], [Number.NaN], ['1e999']])('never passes for %s', async (score) => {
    expect((await judged(check({ min: -10, max: 10 }), factsOf({ score }))).passed).toBe(false)
  })

  test.each([[{}], [{ min: 2, max: 1 }], [{ min: '1' }], [{ max: Number.NaN }]])('refuses %j at parse', (bounds) => {
    expect(refusals(check(bounds))).toHaveLength(1)
  })

  test('it is max_value at its upper end', async () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true })
    await fc.assert(
      fc.asyncProperty(number, number, async (score, max) => {
        const other = await judged({ type: 'max_value', port: 'score', max }, factsOf({ score }))
        expect((await judged(check({ max }), factsOf({ score }))).passed).toBe(other.passed)
      }),
      { numRuns: 50 },
    )
  })
})
