import { expect, test } from 'vitest'
import { namesToLookUp } from '../../../functions/research/candidates.ts'

test.each([
  ['What is the capital of Norway?', ['capital of Norway', 'capital', 'Norway']],
  ["Norway's parliament", ['Norway parliament', 'Norway', 'parliament']],
  ['Where is Côte d’Ivoire?', ['Côte d’Ivoire', 'Côte', 'd’Ivoire']],
  ['What was said of St. Louis and AT&T.', ['Louis and AT&T', 'St Louis', 'said', 'St', 'Louis', 'AT&T']],
])('%s', (topic, names) => {
  expect(namesToLookUp(topic)).toEqual(expect.arrayContaining(names))
})

test('the longest names come first, words of grammar begin and end none, and there are never too many', () => {
  const names = namesToLookUp('the house of the rising sun in new orleans')
  expect(names[0]?.split(' ').length).toBe(4)
  expect(names).not.toContain('the house')
  expect(namesToLookUp(Array.from({ length: 500 }, (_, at) => `word${at}`).join(' ')).length).toBeLessThanOrEqual(60)
  expect(namesToLookUp('?!')).toEqual([])
})
