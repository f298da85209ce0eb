import { describe, expect, test } from 'vitest'
import { foldText, namedObject, textPieces, treePreview, treeWords } from '../../../clients/console/parts/value-text.ts'

const sha256 = 'ab'.repeat(32)
const ref = `objstore://main/${sha256}`

describe('namedObject()', () => {
  test('knows a ref with its hash and size, and a ref alone', () => {
    expect(namedObject({ ref, sha256, bytes: 12 })).toEqual({ ref, sha256, bytes: 12 })
    expect(namedObject(ref)).toEqual({ ref, sha256 })
  })

  test.each([
    ['a text with a ref in it', `see ${ref}`],
    ['a ref of another scheme', `https://main/${sha256}`],
    ['an object with more members than a ref has', { ref, sha256, bytes: 12, title: 'x' }],
    ['a list', [ref]],
    ['null', null],
  ])('%s names none', (_, value) => {
    expect(namedObject(value)).toBeUndefined()
  })
})

test('treeWords() counts items and members', () => {
  expect([treeWords([]), treeWords(['a']), treeWords({ a: 1, b: 2 })]).toEqual(['0 items', '1 item', '2 members'])
})

test('treePreview() says the plain members of a folded tree on one line', () => {
  expect(treePreview({ message: 'it is\n3', more: { a: 1 }, outcome: 'upheld', n: null })).toBe(
    'message: it is 3, outcome: upheld, n: null',
  )
  expect(treePreview(['a', ['b'], 'c'])).toBe('a, c')
  expect(treePreview({ long: 'x'.repeat(500) }, 20)).toBe(`long: ${'x'.repeat(14)}…`)
  expect(treePreview({})).toBe('')
})

describe('foldText()', () => {
  const fold = { lines: 3, characters: 400 }

  test('leaves a short text whole', () => {
    expect(foldText('one\ntwo', fold)).toEqual({ shown: 'one\ntwo', hidden: 0 })
  })

  test('cuts at the last line there is room for', () => {
    const text = Array.from({ length: 30 }, (_, n) => `line ${n} of the text`).join('\n')
    const { shown, hidden } = foldText(text, fold)
    expect(shown.split('\n')).toEqual(['line 0 of the text', 'line 1 of the text', 'line 2 of the text'])
    expect(shown.length + hidden).toBe(text.length)
  })

  test('cuts a long line, and no character in halves', () => {
    const { shown } = foldText('🙂'.repeat(500), { lines: 3, characters: 401 })
    expect(shown).toBe('🙂'.repeat(200))
  })

  test('hides no handful of characters', () => {
    expect(foldText('x'.repeat(450), fold).hidden).toBe(0)
  })
})

describe('textPieces()', () => {
  test('are the text, cut at line ends', () => {
    const text = Array.from({ length: 2_000 }, (_, n) => `line ${n}`).join('\n')
    const pieces = textPieces(text, 1_000)
    expect(pieces.length).toBeGreaterThan(10)
    expect(pieces.every(({ length }) => length <= 1_000)).toBe(true)
    expect(pieces.join('\n')).toBe(text)
  })

  test('a megabyte without a line end is cut as well', () => {
    const text = 'x'.repeat(1_048_576)
    expect(textPieces(text).join('')).toBe(text)
    expect(textPieces(text).length).toBe(128)
  })

  test('an empty text is one empty piece', () => {
    expect(textPieces('')).toEqual([''])
  })
})
