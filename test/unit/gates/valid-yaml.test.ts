import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = { type: 'valid_yaml', port: 'config' }

describe('valid_yaml', () => {
  test.each([['a: 1\nb: [x, y]\n'], ['- one\n- two'], ['{"a": null}'], ['just text'], ['# c\na: |\n  b']])(
    'passes for %j',
    async (config) => {
      expect((await judged(check, factsOf({ config }))).passed).toBe(true)
    },
  )

  test.each([
    ['a: [1, 2'],
    ['a: 1\na: 2'],
    ['a: &x 1\nb: *x'],
    ['a: !!js/function x'],
    ['a: 1\n---\nb: 2'],
    ['a: .nan'],
    [''],
    ['\tb: 1'],
  ])('fails for %j', async (config) => {
    const verdict = await judged(check, factsOf({ config }))
    expect(verdict).toMatchObject({ status: 'failed', reason: expect.stringMatching(/^port config must be YAML: ./) })
  })

  test('says what is too large', async () => {
    const { reason } = await judged(check, factsOf({ config: `a: ${'x'.repeat(300_000)}` }))
    expect(reason).toContain('262144')
  })

  test.each([[{ a: 1 }], [['a']], [7]])('fails for %j, which is no text', async (config) => {
    expect((await judged(check, factsOf({ config }))).reason).toMatch(/^port config must be YAML text/)
  })

  test('refuses unknown parameters', () => {
    expect(refusals({ ...check, schema: {} })).toHaveLength(1)
  })

  test('every JSON text of plain keys is YAML', async () => {
    const key = fc.stringMatching(/^[a-z]{1,6}$/)
    const value = fc.dictionary(key, fc.oneof(fc.integer(), fc.boolean(), fc.stringMatching(/^[ -~]{0,9}$/)))
    await fc.assert(
      fc.asyncProperty(value, async (given) => {
        expect((await judged(check, factsOf({ config: JSON.stringify(given) }))).passed).toBe(true)
      }),
      { numRuns: 50 },
    )
  })
})
