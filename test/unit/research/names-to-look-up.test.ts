import { expect, test } from 'vitest'
import { namesToLookUp } from '../../../functions/research/candidates.ts'

test.each([
  ['What is the capital of Norway?', ['capital of Norway', 'capital', 'Norway']],
  ["Norway's parliament", ['Norway parliament', 'Norway', 'parliament']],
  ['Where is Côte d’Ivoire?', ['Côte d’Ivoire', 'Côte', 'd’Ivoire']],
  ['What was said of St. Louis and AT&T.', ['Louis and AT&T', 'St. Louis', 'St Louis', 'said', 'St', 'Louis', 'AT&T']],
  ["Who was Maurice, Prince of Orange's father?", ['Maurice, Prince of Orange', 'Maurice', 'Orange']],
  ['Who made Emma (1932 film)?', ['Emma (1932 film)', 'Emma']],
])('%s', (topic, names) => {
  expect(written(topic)).toEqual(expect.arrayContaining(names))
})

const written = (topic: string) => namesToLookUp(topic).map(({ name }) => name)

test('the longest names come first, words of grammar begin and end none, and there are never too many', () => {
  const names = written('the house of the rising sun in new orleans')
  const lengths = names.map((name) => name.split(' ').length)
  expect(lengths).toEqual(lengths.toSorted((a, b) => b - a))
  expect(names[0]).toBe('house of the rising sun in new orleans')
  expect(names).not.toContain('the house')
  expect(written(Array.from({ length: 500 }, (_, at) => `word${at}`).join(' ')).length).toBeLessThanOrEqual(150)
  expect(written('?!')).toEqual([])
})
