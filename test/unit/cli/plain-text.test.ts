import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cut, cutMiddle, displayWidth, oneLine, plainText } from '../../../clients/cli/terminal/text.ts'

describe('plainText()', () => {
  test.each([
    ['colours', 'a\u001b[31mred\u001b[0m', 'ared'],
    ['window titles', '\u001b]0;owned\u0007x', 'x'],
    ['strings ended by ST', '\u001b]8;;http://evil\u001b\\link', 'link'],
    ['C1 introducers', '\u009b2Jx', 'x'],
    ['bidi overrides', 'pay \u202e001\u202c to', 'pay 001 to'],
    ['bidi isolates', '\u2066a\u2069', 'a'],
    ['carriage returns', 'safe\rEVIL', 'safeEVIL'],
    ['nothing of tabs and lines', 'a\tb\nc', 'a\tb\nc'],
    ['nothing of other scripts', 'Zürich 日本 😀 עברית', 'Zürich 日本 😀 עברית'],
  ])('takes out %s', (_, text, plain) => expect(plainText(text)).toBe(plain))

  test('leaves no control character of any text', () => {
    void fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(plainText(text)).not.toMatch(/[^\P{Cc}\t\n]/u)
        expect(plainText(plainText(text))).toBe(plainText(text))
      }),
    )
  })
})

describe('oneLine()', () => {
  test('makes one line of several', () => expect(oneLine('  a\n\n b\t c ')).toBe('a b c'))
})

describe('cut()', () => {
  test.each([
    ['abcd', 3, 'ab…'],
    ['abcd', 4, 'abcd'],
    ['abcd', 0, '…'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['😀😀😀', 6, '😀😀😀'],
    ['😀😀😀', 5, '😀😀…'],
    ['e\u0301e\u0301e\u0301', 3, 'e\u0301e\u0301e\u0301'],
    ['✓ 終わり', 8, '✓ 終わり'],
  ])('of %s at %d columns is %s', (text, columns, short) => expect(cut(text, columns)).toBe(short))

  test('never answers more than it may', () => {
    void fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, columns) => {
        const short = cut(text, columns)
        expect(displayWidth(short)).toBeLessThanOrEqual(columns)
        if (displayWidth(text) <= columns) expect(short).toBe(text)
        else expect(text.startsWith(short.slice(0, -1))).toBe(true)
      }),
    )
  })
})

describe('cutMiddle()', () => {
  test.each([
    ['collect-figures-of-norway', 11, 'colle…orway'],
    ['collect-figures-of-norway', 10, 'colle…rway'],
    ['short', 5, 'short'],
    ['日本日本日本', 7, '日…本'],
  ])('of %s at %d columns is %s', (text, columns, short) => {
    expect(cutMiddle(text, columns)).toBe(short)
    expect(displayWidth(short)).toBeLessThanOrEqual(columns)
  })
})
