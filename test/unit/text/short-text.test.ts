import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shortRedacted } from '../../../shared/text/short-text.ts'

const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2

describe('shortRedacted()', () => {
  test.each([
    ['of letters', 'x'.repeat(700), 600],
    ['of another script', '字'.repeat(700), 266],
    ['of signs that are escaped', '\0'.repeat(700), 133],
    ['of quotes', '"'.repeat(700), 400],
    ['of pairs', '😀'.repeat(700), 400],
  ])('keeps of a text %s what an event has room for', (_, text, kept) => {
    expect(shortRedacted(text)).toHaveLength(kept)
  })

  test('has no more bytes of JSON than four for three characters, and no half of a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 900 }), fc.integer({ min: 1, max: 600 }), (text, most) => {
        const short = shortRedacted(text, most)
        expect(bytesOf(short)).toBeLessThanOrEqual(Math.floor((most * 4) / 3))
        expect(short.length).toBeLessThanOrEqual(most)
        expect(short.isWellFormed()).toBe(true)
      }),
    )
  })
})
