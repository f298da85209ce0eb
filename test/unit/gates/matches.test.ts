import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (pattern: string, more = {}) => ({ type: 'matches', port: 'plan', pattern, ...more })

describe('matches', () => {
  test.each<[string, string, string | undefined]>([
    ['^https?://', 'https://example.com', undefined],
    ['b', 'abc', undefined],
    ['B', 'abc', 'i'],
    ['^b$', 'a\nb', 'm'],
    ['a.b', 'a\nb', 's'],
    ['^\\u00e9\\/x\\-y$', 'é/x-y', undefined],
    ['(?<year>\\d{4})', 'in 2026', 'u'],
    ['^.$', '😀', undefined],
  ])('finds %s in %j with flags %s', async (pattern, plan, flags) => {
    const verdict = await judged(check(pattern, flags === undefined ? {} : { flags }), factsOf({ plan }))
    expect(verdict).toMatchObject({ passed: true, status: 'passed' })
  })

  test('fails with the pattern and what was searched', async () => {
    const verdict = await judged(check('^\\d+$'), factsOf({ plan: 'twelve' }))
    expect(verdict).toMatchObject({ passed: false, reason: 'must match ^\\d+$, 6 characters were searched' })
  })

  test.each([
    ['look-ahead inside', 'b(?!x)a', /not supported \(RE2 syntax\).*\(\?!/],
    ['look-ahead in one choice', '^(?!x)a|b', /not supported \(RE2 syntax\).*\(\?!/],
    ['look-ahead without a start', '(?!x)a', /not supported/],
    ['look-behind', '(?<=a)b', /not supported/],
    ['a back-reference', '(a)\\1', /not supported.*\\1/],
    ['an open bracket', '[a', /missing closing \]/],
    ['1,001 characters', 'a'.repeat(1_001), /1001 characters, at most 1000/],
    ['a bomb of repetitions', '(?:a?){1000}'.repeat(20), /expand to \d+ steps, at most 5000/],
    ['a repeat past the engine', 'a{1001}', /invalid repeat count/],
  ])('refuses %s at parse with the reason', (_, pattern, reason) => {
    expect(refusals(check(pattern))).toEqual([expect.stringMatching(reason)])
  })

  test.each([
    ['^(?!.*example\\.com)', 'https://a.b/ and https://example.com', false],
    ['^(?!.*example\\.com)', 'https://a.b/', true],
    ['^(?=.*\\d)(?=.*[)a|])(?!x).{3,}$', 'b1a', true],
    ['^(?=.*\\d)(?=.*[)a|])(?!x).{3,}$', 'xb1a', false],
    ['^(?=.*\\d)(?=.*[)a|])(?!x).{3,}$', 'bca', false],
    ['^(?!(?:a|b))c?', 'bc', false],
  ])('looks ahead from the start: %s in %j', async (pattern, plan, passed) => {
    expect((await judged(check(pattern), factsOf({ plan }))).passed).toBe(passed)
  })

  test('look-aheads at the start answer as JavaScript does', async () => {
    const body = fc.constantFrom('a', '.*b', '(?:a|c)', '[ab]c', '.*(?:a$)', '\\(')
    const look = fc.tuple(fc.constantFrom('!', '='), body).map(([kind, inner]) => `(?${kind}${inner})`)
    const pattern = fc.tuple(fc.array(look, { minLength: 1, maxLength: 3 }), fc.constantFrom('', '.', '.*c', 'a?b$'))
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '('), maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(pattern, text, async ([looks, rest], plan) => {
        const written = `^${looks.join('')}${rest}`
        expect((await judged(check(written), factsOf({ plan }))).passed).toBe(new RegExp(written).test(plan))
      }),
      { numRuns: 300 },
    )
  })

  test('refuses flags it does not know', () => {
    expect(refusals(check('a', { flags: 'gi' }))).toEqual([
      expect.stringMatching(/flags may be i, m, s and u, saw "gi"/),
    ])
  })

  test('takes linear time where a backtracking engine takes years', async () => {
    const verdict = await judged(check('^(a+)+$'), factsOf({ plan: `${'a'.repeat(100_000)}b` }))
    expect(verdict.status).toBe('failed')
  })

  test('fails on text over 1 MiB, telling the size, and reads the last byte of 1 MiB', async () => {
    const full = `${'é'.repeat(524_287)}ab`
    expect((await judged(check('b$'), factsOf({ plan: full }))).passed).toBe(true)
    expect((await judged(check('b$'), factsOf({ plan: `${full}b` }))).reason).toBe(
      'port plan has 1048577 bytes of text, at most 1048576 can be searched',
    )
  })

  test('a search too heavy for the event loop gives the same verdict in the isolate', async () => {
    const heavy = '(?:ab?){400}c$'
    const text = 'ab'.repeat(20_000)
    expect((await judged(check(heavy), factsOf({ plan: `${text}c` }))).passed).toBe(true)
    expect((await judged(check(heavy), factsOf({ plan: text }))).status).toBe('failed')
    expect((await judged(check(`${heavy}|X`, { flags: 'i' }), factsOf({ plan: `${text}x` }))).passed).toBe(true)
  })

  test('fails on what is no text', async () => {
    expect((await judged(check('1'), factsOf({ plan: 1 }))).reason).toBe('port plan must be text, is a number')
  })

  test('agrees with JavaScript on patterns both engines have', async () => {
    const part = fc.constantFrom('a', 'b', '[ab]', '[^a]', '.', 'a*', 'b+', '(?:ab)?', '^', '$', '\\d')
    const pattern = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''))
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', ' '), maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(pattern, text, async (source, plan) => {
        const verdict = await judged(check(source), factsOf({ plan }))
        expect(verdict.passed).toBe(new RegExp(source, 'u').test(plan))
      }),
    )
  })
})
