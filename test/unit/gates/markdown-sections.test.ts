import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (sections: readonly string[]) => ({ type: 'markdown_sections', port: 'brief', sections })

describe('markdown_sections', () => {
  test.each([
    ['## Risks\nNone.'],
    ['# RISKS #\n\n- one'],
    ['# Risks\n\n## Known\n\nOne.'],
    ['   ###   Risks   \r\ntext'],
    ['# Risks\n```\ncode\n```'],
  ])('finds Risks in %j', async (brief) => {
    expect((await judged(check(['Risks']), factsOf({ brief }))).passed).toBe(true)
  })

  test.each([
    ['Risks\n\nNone.', 'must have the sections "Risks"'],
    ['#Risks\nNone.', 'must have the sections "Risks"'],
    ['```\n# Risks\n```\ntext', 'must have the sections "Risks"'],
    ['~~~~\n~~~\n# Risks\n~~~~\ntext', 'must have the sections "Risks"'],
    ['# Risks\n\n# Costs\nTen.', 'must have text below the headings "Risks"'],
    ['# Risks\n \n', 'must have text below the headings "Risks"'],
  ])('does not in %j', async (brief, reason) => {
    expect((await judged(check(['Risks']), factsOf({ brief }))).reason).toBe(reason)
  })

  test.each([[['# Risks']], [7]])('fails for %j, which is no text', async (brief) => {
    expect((await judged(check(['Risks']), factsOf({ brief }))).reason).toMatch(/^port brief must be Markdown text/)
  })

  test.each([[[]], [[' ']]])('refuses sections %j at parse', (sections) => {
    expect(refusals(check(sections))).toHaveLength(1)
  })

  test('a document made of sections has them, and without one of them it has not', async () => {
    const name = fc.stringMatching(/^[A-Z][a-z]{1,6}( [a-z]{1,4})?$/)
    const names = fc.uniqueArray(name, { minLength: 2, maxLength: 5, selector: (text) => text.toUpperCase() })
    await fc.assert(
      fc.asyncProperty(names, fc.integer({ min: 1, max: 6 }), async (sections, level) => {
        const written = sections.map((section) => `${'#'.repeat(level)} ${section}\n\ntext\n`)
        expect((await judged(check(sections), factsOf({ brief: written.join('\n') }))).passed).toBe(true)
        expect((await judged(check(sections), factsOf({ brief: written.slice(1).join('\n') }))).passed).toBe(false)
      }),
      { numRuns: 50 },
    )
  })
})
