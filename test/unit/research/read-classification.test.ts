import { expect, test } from 'vitest'
import { readClassification } from '../../../shared/research/question/classification.ts'

test('a model’s classification is of tier 3, with the hints that are of their form', () => {
  const hints = { top_n: 5, geo_bounds: { north: 1 }, zone: '', entity_kind: 'city', anything: 'else' }
  const read = readClassification(`So: ${JSON.stringify({ intent: 'cities', confidence: 0.7, hints })}`)
  expect(read).toEqual({
    ok: true,
    value: { tier: '3', intent: 'cities', confidence: 0.7, hints: { top_n: 5, entity_kind: 'city' } },
  })
})

test.each([
  ['no JSON', 'cities'],
  ['no confidence', '{"intent": "x"}'],
  ['too much confidence', '{"intent": "x", "confidence": 2}'],
  ['hints that are a list', '{"intent": "x", "confidence": 1, "hints": []}'],
])('%s is refused in words', (_what, text) => {
  const read = readClassification(text)
  expect(read.ok).toBe(false)
  expect(read.ok ? '' : read.errors[0]?.message).toMatch(/\.$/)
})
