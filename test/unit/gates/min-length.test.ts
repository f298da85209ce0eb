import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (min: number) => ({ type: 'min_length', port: 'plan', min })

describe('min_length', () => {
  test('counts characters, not UTF-16 units', async () => {
    expect((await judged(check(2), factsOf({ plan: '😀😀' }))).passed).toBe(true)
    expect((await judged(check(3), factsOf({ plan: '😀😀' }))).reason).toBe('must be at least 3 characters, has 2')
  })

  test('counts the items of a list', async () => {
    expect((await judged(check(2), factsOf({ plan: [1, 2] }))).passed).toBe(true)
    expect((await judged(check(3), factsOf({ plan: [1, 2] }))).reason).toBe('must be at least 3 items, has 2')
  })

  test('min 0 still needs a text or a list', async () => {
    expect((await judged(check(0), factsOf({ plan: '' }))).passed).toBe(true)
    expect((await judged(check(0), factsOf({}))).reason).toBe('missing port plan')
  })

  test.each([[12], [true], [{ length: 99 }]])('fails on %j, which has no length', async (plan) => {
    expect((await judged(check(0), factsOf({ plan }))).reason).toMatch(/^port plan must be text or a list, is a/)
  })

  test.each([[-1], [1.5], ['3'], [Number.NaN], [undefined]])('refuses min %j at parse', (min) => {
    expect(refusals({ type: 'min_length', port: 'plan', min })).toHaveLength(1)
  })

  test('passes exactly from the length on', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.nat(25), async (plan, min) => {
        expect((await judged(check(min), factsOf({ plan }))).passed).toBe([...plan].length >= min)
      }),
    )
  })
})
