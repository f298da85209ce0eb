import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (keywords: readonly string[], min_matches = 1) => ({
  type: 'semantic_review',
  port: 'plan',
  keywords,
  min_matches,
})

describe('semantic_review', () => {
  test('passes when enough keywords occur', async () => {
    expect((await judged(check(['Risk', 'cost', 'date'], 2), factsOf({ plan: 'RISKS and costs' }))).passed).toBe(true)
  })

  test('fails in the form the local provider obeys', async () => {
    const verdict = await judged(check(['risk', 'cost'], 2), factsOf({ plan: 'a risk' }))
    expect(verdict.reason).toBe('must contain at least 2 of the keywords "risk", "cost"; found 1')
  })

  test('one word written twice is one match', async () => {
    expect(refusals(check(['risk', 'Risk'], 2))).toEqual([expect.stringMatching(/could never pass/)])
    expect((await judged(check(['risk', 'Risk', 'cost'], 2), factsOf({ plan: 'risk' }))).passed).toBe(false)
  })

  test('min_matches is 1 when absent', async () => {
    const plain = { type: 'semantic_review', port: 'plan', keywords: ['a', 'b'] }
    expect((await judged(plain, factsOf({ plan: 'b' }))).passed).toBe(true)
    expect((await judged(plain, factsOf({ plan: 'c' }))).passed).toBe(false)
  })

  test.each([[check([])], [check([' '])], [check(['a'], 0)], [check(['a'], 1.5)], [check(['a'], 2)]])(
    'refuses %j at parse',
    (bad) => {
      expect(refusals(bad)).not.toEqual([])
    },
  )

  test('fails on what is no text', async () => {
    expect((await judged(check(['a']), factsOf({ plan: ['a'] }))).reason).toBe('port plan must be text, is a list')
  })

  test('asking for more matches never makes a failing text pass', async () => {
    const word = fc.constantFrom('alpha', 'beta', 'gamma', 'delta')
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(word, { minLength: 2 }), fc.array(word), async (keywords, words) => {
        const facts = factsOf({ plan: words.join(' ') })
        const verdicts = await Promise.all(keywords.map((_, i) => judged(check(keywords, i + 1), facts)))
        const found = keywords.filter((keyword) => words.includes(keyword)).length
        expect(verdicts.map(({ passed }) => passed)).toEqual(keywords.map((_, i) => i + 1 <= found))
      }),
    )
  })
})
