import fc from 'fast-check'
import { expect, test } from 'vitest'
import { classifyByForm } from '../../../shared/research/question/classification.ts'

test.each([
  ['What is the capital of Norway?', 'attribute', 1],
  ['what is the LENGTH of the river Glomma', 'attribute', 1],
  ['Who was Amundsen?', 'definition', 1],
  ['Tell me about Norway', 'definition', 1],
  ['Why did the crane in Oslo stop?', 'cause', 1],
  ['How do I calibrate a sensor?', 'procedure', 1],
])('%s', (topic, intent, confidence) => {
  expect(classifyByForm(topic)).toEqual({ tier: '1', intent, confidence, hints: {} })
})

test('a question half like another is less sure, one like none is left to the next tier', () => {
  const near = classifyByForm('What is the height of the tower that was built?')
  expect(near === undefined || near.confidence < 1).toBe(true)
  for (const topic of ['Norway', 'pump faults Oslo harbour', '', '¿Cuál es la capital?']) {
    expect(classifyByForm(topic)).toBeUndefined()
  }
})

test('names change nothing: only the form counts', () => {
  const name = fc.stringMatching(/^[A-Z][a-z]{4,9}x$/)
  const law = fc.property(name, name, (one, two) => {
    expect(classifyByForm(`What is the ${one} of ${two}?`)).toEqual(classifyByForm('What is the capital of Peru?'))
  })
  fc.assert(law, { numRuns: 30 })
})
