import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (max: number) => ({ type: 'max_length', port: 'plan', max })

describe('max_length', () => {
  test.each([['ab'], [''], [['a', 'b']], [[]], ['😀😀']])('passes for %j of at most 2', async (plan) => {
    expect((await judged(check(2), factsOf({ plan }))).passed).toBe(true)
  })

  test('fails with seen and wanted, in the unit of the value', async () => {
    expect((await judged(check(2), factsOf({ plan: 'abc' }))).reason).toBe('must be at most 2 characters, has 3')
    expect((await judged(check(2), factsOf({ plan: [1, 2, 3] }))).reason).toBe('must be at most 2 items, has 3')
  })

  test.each([[7], [true], [{ a: 1 }]])('fails on %j, which has no length', async (plan) => {
    expect((await judged(check(2), factsOf({ plan }))).reason).toMatch(/^port plan must be text or a list/)
  })

  test.each([[-1], [1.5], ['2'], [null]])('refuses max %j at parse', (max) => {
    expect(refusals({ type: 'max_length', port: 'plan', max })).toHaveLength(1)
  })

  test('min_length and max_length of one number both pass exactly at it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 9 }), fc.nat(9), async (plan, size) => {
        const most = await judged(check(size), factsOf({ plan }))
        const least = await judged({ type: 'min_length', port: 'plan', min: size }, factsOf({ plan }))
        // Half of a character is no JSON: both answer error.
        expect(most.passed && least.passed).toBe(plan.isWellFormed() && [...plan].length === size)
      }),
    )
  })
})
