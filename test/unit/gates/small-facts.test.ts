import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shortenFacts } from '../../../shared/gates/judge.ts'
import type { Json } from '../../../shared/text/json.ts'
import { safeOneLine } from '../../../shared/text/redact.ts'

test('smallFacts() leaves small facts alone', () => {
  const facts = { port: 'plan', length: 5, missing: ['a', 'b'], nested: { x: null } }
  expect(shortenFacts(facts)).toEqual(facts)
})

test('smallFacts() notes the real length of what it cuts', () => {
  expect(shortenFacts({ value: 'x'.repeat(500) })).toEqual({ value: `${'x'.repeat(119)}… (500 characters)` })
  const { items } = shortenFacts({ items: Array.from({ length: 40 }, (_, i) => i) })
  expect(items).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, '… (40 items)'])
})

test('smallFacts() always fits 512 bytes of well-formed JSON', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' })), (facts) => {
      const text = JSON.stringify(shortenFacts(facts as Record<string, Json>))
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(512)
    }),
  )
})

test('oneSentence() is short, well-formed, on one line and keeps its order on a screen', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (text, limit) => {
      const sentence = safeOneLine(text, limit)
      expect([...sentence].length).toBeLessThanOrEqual(limit)
      expect(sentence.isWellFormed()).toBe(true)
      expect(sentence).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
    }),
  )
})

test('oneSentence() never splits a character and marks the cut', () => {
  expect(safeOneLine('😀😀😀😀', 3)).toBe('😀😀…')
  expect(safeOneLine('a\u202eb', 10)).toBe('ab')
})
