import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (value: string, more = {}) => ({ type: 'ends_with', port: 'plan', value, ...more })

describe('ends_with', () => {
  test('passes for the exact text', async () => {
    expect((await judged(check('# Report'), factsOf({ plan: 'Text\n# Report' }))).passed).toBe(true)
  })

  test('fails and shows what is there', async () => {
    const verdict = await judged(check('# Report'), factsOf({ plan: 'Dear reader' }))
    expect(verdict.reason).toBe('must end with "# Report", ends with "Dear reader"')
  })

  test('letters count as they are unless case_sensitive is false', async () => {
    expect((await judged(check('YES'), factsOf({ plan: 'yes' }))).passed).toBe(false)
    expect((await judged(check('YES', { case_sensitive: false }), factsOf({ plan: 'yes' }))).passed).toBe(true)
  })

  test('a blank in the way counts', async () => {
    expect((await judged(check('yes'), factsOf({ plan: ' yes ' }))).passed).toBe(false)
  })

  test.each([[['yes']], [7], [{ yes: 1 }]])('fails on %j, which is no text', async (plan) => {
    expect((await judged(check('yes'), factsOf({ plan }))).reason).toMatch(/^port plan must be text, is a/)
  })

  test.each([[''], [1], [null]])('refuses value %j at parse', (value) => {
    expect(refusals({ type: 'ends_with', port: 'plan', value })).toHaveLength(1)
  })

  test('it passes for every text made so, and as JavaScript says for any other', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 4 })
    const wanted = text.filter((value) => value !== '')
    await fc.assert(
      fc.asyncProperty(wanted, text, async (value, rest) => {
        expect((await judged(check(value), factsOf({ plan: rest + value }))).passed).toBe(true)
        const passed = (await judged(check(value), factsOf({ plan: rest }))).passed
        expect(passed).toBe(rest.endsWith(value))
      }),
      { numRuns: 50 },
    )
  })
})
