import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editDistance } from '../../../shared/gates/kinds/similarity.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = (more: object) => ({ type: 'levenshtein', port: 'plan', ...more })

describe('levenshtein', () => {
  test.each([
    ['kitten', 'sitting', 3],
    ['', 'abc', 3],
    ['flaw', 'lawn', 2],
    ['😀a', '😁a', 1],
    ['same', 'same', 0],
  ])('%j is a distance of %j at %i', async (plan, text, max) => {
    expect((await judged(check({ text, max }), factsOf({ plan }))).passed).toBe(true)
    if (max > 0) expect((await judged(check({ text, max: max - 1 }), factsOf({ plan }))).passed).toBe(false)
  })

  test('compares two ports', async () => {
    const verdict = await judged(check({ other: 'was', max: 1 }), factsOf({ plan: 'cat', was: 'cut' }))
    expect(verdict).toMatchObject({ passed: true, reason: 'is 1 changes away, at most 1 wanted' })
  })

  test('fails when either side is no text', async () => {
    expect((await judged(check({ other: 'was', max: 1 }), factsOf({ plan: 'cat', was: 7 }))).reason).toMatch(
      /^port was/,
    )
    expect((await judged(check({ text: 'a', max: 1 }), factsOf({ plan: ['a'] }))).reason).toMatch(/^port plan/)
  })

  test('says what it does not compare', async () => {
    const verdict = await judged(check({ text: 'a', max: 1 }), factsOf({ plan: 'a'.repeat(5_001) }))
    expect(verdict.reason).toBe('texts of at most 5000 characters are compared, port plan has 5001')
  })

  test.each([[{ max: 1 }], [{ text: 'a', other: 'b', max: 1 }], [{ text: 'a' }], [{ text: 'a', max: 501 }]])(
    'refuses %j at parse',
    (more) => {
      expect(refusals(check(more))).toHaveLength(1)
    },
  )

  test('the band answers as the whole table does', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
    fc.assert(
      fc.property(text, text, fc.nat(12), (a, b, max) => {
        const whole = table(a, b)
        expect(editDistance(a, b, max)).toBe(whole <= max ? whole : undefined)
      }),
      { numRuns: 500 },
    )
  })
})

/** Wagner and Fischer's table, written plainly. */
function table(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length + b.length
  const rows = a.map(() => b.map(() => 0))
  const at = (i: number, j: number): number => (i < 0 || j < 0 ? i + j + 2 : (rows[i]?.[j] ?? 0))
  for (const [i, x] of a.entries()) {
    for (const [j, y] of b.entries()) {
      const row = rows[i] ?? []
      row[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (x === y ? 0 : 1))
    }
  }
  return at(a.length - 1, b.length - 1)
}
