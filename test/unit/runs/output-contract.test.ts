import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OutputPort, PortType } from '../../../shared/dag/dag.ts'
import { readAnswerOutputs } from '../../../shared/runs/block-outputs.ts'

const ports = (types: Record<string, PortType>, required = true): Record<string, OutputPort> =>
  Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type, required }]))

describe('readAnswer()', () => {
  test('takes the whole text as a JSON object when it is one', () => {
    const read = readAnswerOutputs('{"plan": "a", "steps": 3, "more": 1}', ports({ plan: 'string', steps: 'number' }))
    expect(read).toEqual({ values: { plan: 'a', steps: 3 }, problems: [] })
  })

  test('else takes the first ```json fence', () => {
    const read = readAnswerOutputs(
      'Here:\n```json\n{"a": "x", "b": true}\n```\nbye',
      ports({ a: 'string', b: 'boolean' }),
    )
    expect(read.values).toEqual({ a: 'x', b: true })
  })

  test('else, with a single port, takes the raw text', () => {
    expect(readAnswerOutputs('1. do it', ports({ plan: 'string' })).values).toEqual({ plan: '1. do it' })
    expect(readAnswerOutputs(' 42 ', ports({ n: 'number' })).values).toEqual({ n: 42 })
    expect(readAnswerOutputs('{"k": 1}', ports({ data: 'json' })).values).toEqual({ data: { k: 1 } })
  })

  test('a JSON text without the single string port is that text', () => {
    expect(readAnswerOutputs('{"other": 1}', ports({ plan: 'string' })).values).toEqual({ plan: '{"other": 1}' })
  })

  test.each([
    ['a number too large for a double', '{"a":{"b":[1e999]}}', /larger than 1.8e308/],
    ['half of a character', '{"a":["\\ud800"]}', /lone surrogate/],
    ['65 levels', `{"a":${'['.repeat(65)}${']'.repeat(65)}}`, /deeper than 64 levels/],
    ['100,000 levels', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, /deeper than 64 levels/],
  ])('refuses a value no hash can be made of: %s', (_, text, message) => {
    expect(readAnswerOutputs(text, ports({ a: 'json' })).problems).toEqual([expect.stringMatching(message)])
  })

  test.each<[string, string, Record<string, PortType>]>([
    ['an object', `{"a":[${'1,'.repeat(600_000)}1]}`, { a: 'json' }],
    ['a list', `[${'[],'.repeat(300_000)}1]`, { a: 'json' }],
    ['a fence', `So:\n\`\`\`json\n{"a":[${'1,'.repeat(600_000)}1]}\n\`\`\``, { a: 'string' }],
    ['several ports', `{"a":[${'1,'.repeat(600_000)}1]}`, { a: 'json', b: 'string' }],
  ])('does not parse more values than others can wait for: %s', (_, text, types) => {
    const words = Object.keys(types).map(
      (port) => `port ${port} cannot be read: the answer is not parsed, since it holds more than 550000 values`,
    )
    expect(readAnswerOutputs(text, ports(types))).toEqual({ values: {}, problems: words })
  })

  test('takes a text as it is, however many commas and brackets it has', () => {
    const text = `rows:\n${'1,2\n'.repeat(600_000)}${'['.repeat(100)}`
    expect(readAnswerOutputs(text, ports({ table: 'string' })).values).toEqual({ table: text })
  })

  test('takes 64 levels, and refuses half of a character in a raw text too', () => {
    expect(readAnswerOutputs(`{"a":${'['.repeat(64)}${']'.repeat(64)}}`, ports({ a: 'json' })).problems).toEqual([])
    expect(readAnswerOutputs('half \ud800', ports({ a: 'string' })).problems).toEqual([
      expect.stringMatching(/port a cannot/),
    ])
  })

  test('names every missing, blank and wrong-typed required port', () => {
    const read = readAnswerOutputs(
      '{"a": "  ", "b": "x", "c": null}',
      ports({ a: 'string', b: 'number', c: 'json', d: 'string' }),
    )
    expect(read.problems).toEqual([
      'missing port a',
      'port b must be number, got string',
      'missing port c',
      'missing port d',
    ])
  })

  test('an optional port may be absent, never wrong', () => {
    expect(readAnswerOutputs('{}', ports({ a: 'string', b: 'string' }, false)).problems).toEqual([])
    expect(readAnswerOutputs('{"a": 1}', ports({ a: 'string', b: 'string' }, false)).problems).toEqual([
      'port a must be string, got number',
    ])
  })

  test('reads no inherited member', () => {
    const inherited = { ['toString' as string]: 'string' as const }
    expect(readAnswerOutputs('{"x": 1}', ports({ x: 'number', ...inherited })).problems).toEqual([
      'missing port toString',
    ])
  })

  test('answers for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const { values, problems } = readAnswerOutputs(text, ports({ a: 'string', b: 'number' }))
        expect(Object.keys(values).length + problems.length).toBe(2)
      }),
    )
  })
})
