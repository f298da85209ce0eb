import { describe, expect, test } from 'vitest'
import {
  idempotencyKeys,
  inputFields,
  lineRange,
  readInputs,
  startBody,
} from '../../../clients/console/start/start-request.ts'

describe('the form of a document', () => {
  const fields = inputFields({
    context_inputs: [
      { name: 'goal', required: true, type: 'string', description: 'What for' },
      { name: 'limits', required: true, type: 'json', default: { words: 2 } },
      { name: 'size', required: false, type: 'number' },
      { name: 'free', required: false },
    ],
  })

  test('has a field an input: its type, whether it is needed, and its default', () => {
    expect(fields).toEqual([
      { name: 'goal', type: 'string', isRequired: true, description: 'What for', fallback: undefined },
      { name: 'limits', type: 'json', isRequired: false, description: undefined, fallback: '{\n  "words": 2\n}' },
      { name: 'size', type: 'number', isRequired: false, description: undefined, fallback: undefined },
      { name: 'free', type: 'string', isRequired: false, description: undefined, fallback: undefined },
    ])
  })

  test('leaves out what is empty, and names what is missing or wrong', () => {
    expect(readInputs(fields, { limits: '[1]', size: '4' })).toEqual({
      inputs: { limits: [1], size: 4 },
      missing: ['goal'],
      wrong: [],
    })
    expect(readInputs(fields, { goal: 'x', size: 'four' })).toEqual({
      inputs: { goal: 'x' },
      missing: [],
      wrong: ['size'],
    })
  })
})

describe('the request', () => {
  test('names a deployed document that was not touched, and sends the text of any other', () => {
    expect(startBody({ text: 'a', name: 'coding', deployed: 'a' }, {})).toEqual({ name: 'coding' })
    expect(startBody({ text: 'b', name: 'coding', deployed: 'a' }, {})).toEqual({ name: 'coding', dag: 'b' })
    expect(startBody({ text: 'b', name: undefined, deployed: undefined }, { x: 1 })).toEqual({
      dag: 'b',
      inputs: { x: 1 },
    })
  })

  test('has one key as long as it is the same, so that a second click starts no second run', () => {
    let made = 0
    const keyOf = idempotencyKeys(() => {
      made += 1
      return `key-${made}`
    })
    expect(keyOf({ name: 'a' })).toBe('key-1')
    expect(keyOf({ name: 'a' })).toBe('key-1')
    expect(keyOf({ name: 'b' })).toBe('key-2')
    expect(keyOf({ name: 'a' })).toBe('key-1')
  })
})

test.each([
  [1, 'ab'],
  [2, ''],
  [3, 'cde'],
  [0, 'ab'],
  [9, 'cde'],
])('line %i of a text is found', (line, words) => {
  const text = 'ab\n\ncde'
  expect(text.slice(...lineRange(text, line))).toBe(words)
})
