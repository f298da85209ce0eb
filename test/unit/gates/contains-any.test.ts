import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (values: readonly string[], more = {}) => ({ type: 'contains_any', port: 'plan', values, ...more })

describe('contains_any', () => {
  test('passes when one of them occurs, whatever its case, and names it', async () => {
    const verdict = await judged(check(['Risk', 'Cost']), factsOf({ plan: 'the costs' }))
    expect(verdict).toMatchObject({ passed: true, reason: 'contains "Cost"' })
  })

  test('fails and names all of them', async () => {
    const verdict = await judged(check(['Risk', 'Cost']), factsOf({ plan: 'nothing' }))
    expect(verdict).toMatchObject({ status: 'failed', reason: 'must contain one of "Risk", "Cost"' })
  })

  test('case_sensitive compares letters as they are', async () => {
    expect((await judged(check(['Risk'], { case_sensitive: true }), factsOf({ plan: 'risk' }))).passed).toBe(false)
  })

  test.each([[['Risk']], [7], [true]])('fails on %j, which is no text', async (plan) => {
    expect((await judged(check(['Risk']), factsOf({ plan }))).reason).toMatch(/^port plan must be text, is a/)
  })

  test.each([[[]], [['']], [[1]], ['a']])('refuses values %j at parse', (values) => {
    expect(refusals({ type: 'contains_any', port: 'plan', values })).toHaveLength(1)
  })

  test('it fails exactly when `contains` fails for each of the values alone', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'B', ' '), maxLength: 6 })
    const wanted = fc.array(
      text.filter((value) => value !== ''),
      { minLength: 1, maxLength: 3 },
    )
    await fc.assert(
      fc.asyncProperty(text, wanted, async (plan, values) => {
        const alone = values.map((value) =>
          judged({ type: 'contains', port: 'plan', values: [value] }, factsOf({ plan })),
        )
        const some = (await Promise.all(alone)).some(({ passed }) => passed)
        expect((await judged(check(values), factsOf({ plan }))).passed).toBe(some)
      }),
      { numRuns: 50 },
    )
  })
})
