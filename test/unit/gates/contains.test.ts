import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (values: readonly string[], more = {}) => ({ type: 'contains', port: 'plan', values, ...more })

describe('contains', () => {
  test('passes when every value occurs, whatever its case', async () => {
    expect(await judged(check(['Risk', 'COST']), factsOf({ plan: 'risks and costs' }))).toMatchObject({
      passed: true,
      status: 'passed',
    })
  })

  test('fails and lists the missing values in the form the local provider obeys', async () => {
    const verdict = await judged(check(['Risk', 'Cost', 'Plan']), factsOf({ plan: 'plan' }))
    expect(verdict).toMatchObject({ passed: false, status: 'failed', reason: 'must contain "Risk", "Cost"' })
    expect(verdict.facts).toEqual({ port: 'plan', missing: ['Risk', 'Cost'] })
  })

  test('case_sensitive compares letters as they are', async () => {
    const sensitive = check(['Risk'], { case_sensitive: true })
    expect((await judged(sensitive, factsOf({ plan: 'risk' }))).passed).toBe(false)
    expect((await judged(sensitive, factsOf({ plan: 'Risk' }))).passed).toBe(true)
  })

  test('folds letters whose small form depends on their neighbours', async () => {
    expect((await judged(check(['ΟΔΟΣ']), factsOf({ plan: 'οδοςx' }))).passed).toBe(true)
  })

  test.each([[['Risk']], [{ text: 'Risk' }], [7], [true]])('fails on %j, which is no text', async (plan) => {
    expect((await judged(check(['Risk']), factsOf({ plan }))).reason).toMatch(/^port plan must be text, is a/)
  })

  test.each([
    ['no values', { type: 'contains', port: 'plan', values: [] }],
    ['an empty value', check([''])],
    ['no port', { type: 'contains', values: ['a'] }],
    ['a number as value', { type: 'contains', port: 'plan', values: [1] }],
    ['a misspelled parameter', check(['a'], { casesensitive: true })],
  ])('refuses %s at parse', (_, bad) => {
    expect(refusals(bad)).toHaveLength(1)
  })

  test('passes exactly when JavaScript finds every value', async () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'B', ' '), maxLength: 6 })
    const wanted = fc.array(
      letters.filter((value) => value !== ''),
      { minLength: 1, maxLength: 3 },
    )
    await fc.assert(
      fc.asyncProperty(letters, wanted, async (plan, values) => {
        const verdict = await judged(check(values, { case_sensitive: true }), factsOf({ plan }))
        expect(verdict.passed).toBe(values.every((value) => plan.includes(value)))
      }),
    )
  })
})
