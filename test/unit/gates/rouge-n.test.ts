import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (more: object) => ({ type: 'rouge_n', port: 'plan', ...more })
const reference = 'the cat was under the bed'
const seen = 'the cat was found under the bed'

describe('rouge_n', () => {
  test.each([
    [{ n: 1, measure: 'recall' }, 6 / 6],
    [{ n: 1, measure: 'precision' }, 6 / 7],
    [{ n: 2, measure: 'recall' }, 4 / 5],
    [{ n: 2, measure: 'precision' }, 4 / 6],
    [{ n: 2, measure: 'f1' }, 8 / 11],
  ])('%j of the textbook sentences is %d', async (how, score) => {
    expect((await judged(check({ reference, ...how, min: score }), factsOf({ plan: seen }))).passed).toBe(true)
    const more = Math.min(1, score + 0.01)
    const verdict = await judged(check({ reference, ...how, min: more }), factsOf({ plan: seen }))
    expect(verdict.passed).toBe(more === score)
  })

  test('a word counts as often as both have it', async () => {
    const verdict = await judged(
      check({ reference: 'a b', min: 0.5, measure: 'precision' }),
      factsOf({ plan: 'a a a a' }),
    )
    expect(verdict.reason).toBe('ROUGE-1 precision must be at least 0.5, is 0.25')
  })

  test('compares with a port', async () => {
    const verdict = await judged(check({ reference_port: 'was', min: 1 }), factsOf({ plan: 'A, b!', was: 'b a' }))
    expect(verdict.passed).toBe(true)
  })

  test.each([[''], ['…']])('nothing in common with %j is no pass', async (plan) => {
    expect((await judged(check({ reference, min: 0.001 }), factsOf({ plan }))).passed).toBe(false)
  })

  test.each([[['a']], [7]])('fails on %j, which is no text', async (plan) => {
    expect((await judged(check({ reference, min: 0.1 }), factsOf({ plan }))).reason).toMatch(/^port plan must be text/)
  })

  test.each([
    [{ min: 0.5 }],
    [{ reference, reference_port: 'was', min: 0.5 }],
    [{ reference, min: 0 }],
    [{ reference, min: 1.1 }],
    [{ reference, min: 0.5, n: 5 }],
  ])('refuses %j at parse', (more) => {
    expect(refusals(check(more))).toHaveLength(1)
  })

  test('a text has all of its own n-grams', async () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 4, maxLength: 9 })
    await fc.assert(
      fc.asyncProperty(words, fc.integer({ min: 1, max: 4 }), async (list, n) => {
        const plan = list.join(' ')
        expect((await judged(check({ reference: plan, n, min: 1, measure: 'f1' }), factsOf({ plan }))).passed).toBe(
          true,
        )
      }),
      { numRuns: 50 },
    )
  })
})
