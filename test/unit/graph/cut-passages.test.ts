import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutPassages, cutSnippet } from '../../../shared/graph/cut-passages.ts'

const piece = fc.oneof(
  fc.lorem({ maxCount: 60 }),
  fc.constantFrom('\n\n', '. ', '! ', '。', ' ', '🙂'.repeat(900), 'x'.repeat(3_000)),
)
const body = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''))

describe('cutPassages()', () => {
  test('loses nothing, cuts no character, and keeps every passage short', () => {
    fc.assert(
      fc.property(body, (text) => {
        const passages = cutPassages(text)
        expect(passages.map((passage) => passage.text).join('')).toBe(text)
        for (const passage of passages) {
          expect(text.startsWith(passage.text, passage.start)).toBe(true)
          expect(passage.text.length).toBeLessThanOrEqual(1_400)
          expect(passage.text.isWellFormed()).toBe(true)
        }
      }),
    )
  })

  test('ends a passage at a paragraph, else at a sentence', () => {
    const sentence = 'The harbour froze in that winter, and nobody left. '
    expect(cutPassages(sentence.repeat(40))[0]?.text).toMatch(/nobody left\. $/)
    const paragraphs = `${sentence.repeat(14)}\n\n${sentence.repeat(40)}`
    expect(cutPassages(paragraphs)[0]?.text).toBe(`${sentence.repeat(14)}\n\n`)
  })

  test('gives an empty body no passage, and a very long one no more than it may have', () => {
    expect(cutPassages('')).toEqual([])
    expect(cutPassages('word '.repeat(400_000))).toHaveLength(1_200)
  })
})

describe('cutSnippet()', () => {
  test('is a part of the text, of 300 characters at most', () => {
    fc.assert(
      fc.property(body, (text) => {
        const snippet = cutSnippet(text, new Map([['lorem', 1]]))
        expect(snippet.length).toBeLessThanOrEqual(300)
        expect(snippet.isWellFormed()).toBe(true)
        expect(text).toContain(snippet.replace(/…$/, ''))
      }),
    )
  })

  test('begins with the sentence whose neighbourhood has most of what is wanted', () => {
    const text = `${'Snow fell. '.repeat(60)}The ferry sank in the harbour. ${'Snow fell. '.repeat(60)}`
    const wanted = new Map([
      ['snow', 0.1],
      ['ferri', 2],
      ['harbour', 2],
    ])
    expect(cutSnippet(text, wanted)).toContain('The ferry sank in the harbour.')
  })
})
