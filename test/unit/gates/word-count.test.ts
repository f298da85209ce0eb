import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (bounds: object) => ({ type: 'word_count', port: 'plan', ...bounds })

describe('word_count', () => {
  test.each([
    ['one two three'],
    ["don't stop-gap now"],
    ['1, 2; 3.'],
    ['3.14 and 385,207'],
    ['a,b.c'],
    ['  spaced \n out\ttext '],
    ['Ωμέγα café naïve'],
  ])('counts three words in %j', async (plan) => {
    expect((await judged(check({ min: 3, max: 3 }), factsOf({ plan }))).passed).toBe(true)
  })

  test.each([['—…!?'], [''], ['\u200b']])('counts none in %j', async (plan) => {
    expect((await judged(check({ min: 1 }), factsOf({ plan }))).reason).toBe('must be at least 1 words, has 0')
  })

  test('fails above max with seen and wanted', async () => {
    expect((await judged(check({ max: 1 }), factsOf({ plan: 'a b' }))).reason).toBe('must be at most 1 words, has 2')
  })

  test.each([[['a']], [7], [true]])('fails on %j, which is no text', async (plan) => {
    expect((await judged(check({ min: 1 }), factsOf({ plan }))).reason).toMatch(/^port plan must be text, is a/)
  })

  test('says what it does not count', async () => {
    const verdict = await judged(check({ min: 1 }), factsOf({ plan: 'a '.repeat(3_000_000) }))
    expect(verdict.reason).toBe('port plan has 6000000 bytes of text, the words of at most 4194304 are counted')
  })

  test.each([[{}], [{ min: 3, max: 2 }], [{ min: -1 }], [{ max: 0.5 }]])('refuses %j at parse', (bounds) => {
    expect(refusals(check(bounds))).toHaveLength(1)
  })

  test('words joined by any blanks are counted back', async () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,5}$/)
    const blank = fc.constantFrom(' ', '\n', ', ', ' — ')
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 8 }), blank, async (words, between) => {
        const plan = `.${words.join(between)}.`
        expect((await judged(check({ min: words.length, max: words.length }), factsOf({ plan }))).passed).toBe(true)
      }),
      { numRuns: 50 },
    )
  })
})
