import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluateExpression, parseExpression } from '../../../shared/dag/expression.ts'
import type { Json } from '../../../shared/text/json.ts'

const ROOTS = {
  inputs: {
    n: 3,
    text: 'naïve',
    list: [1, 'two', { a: 1 }],
    flag: false,
    'a-b': { c: [10, 20] },
    empty: null,
    emoji: '😀',
  },
  outputs: { report: { score: 0.5, tags: ['x'] } },
}

function value(source: string): Json | undefined {
  const parsed = parseExpression(source)
  if (!parsed.ok) throw new Error(parsed.message)
  return evaluateExpression(parsed.expression, ROOTS)
}

describe('evaluateExpression()', () => {
  test.each<[string, Json | undefined]>([
    ['inputs.n > 2 && outputs.report.score >= 0.5', true],
    ['inputs.n + 1 * 2 - 4 / 2 % 3', 3],
    ['-inputs.n', -3],
    ['inputs["a-b"].c[1]', 20],
    ['inputs.text.length', 5],
    ['inputs.emoji.length', 1],
    ['inputs.list.length', 3],
    ['inputs.text + "!"', 'naïve!'],
    ['inputs.n == 3 ? "three" : "other"', 'three'],
    ['"two" in inputs.list', true],
    ['"tags" in outputs.report', true],
    ['"ïv" in inputs.text', true],
    ['"toString" in outputs.report', false],
    ['!inputs.flag', true],
    ['inputs.flag || "default"', 'default'],
    ['"b" > "a"', true],
    ['inputs.n == "3"', false],
    ['inputs.n != "3"', true],
    ['inputs.empty == null', true],
    ['inputs.absent == null', true],
    ['null != inputs.absent', false],
    ['true === true', true],
  ])('%s is %j', (source, expected) => {
    expect(value(source)).toEqual(expected)
  })

  test.each([
    'inputs.absent',
    'inputs.absent > 1',
    'inputs.absent != "bad"',
    '!inputs.absent',
    'inputs.absent ? 1 : 2',
    'inputs.text > 3',
    'inputs.text * 2',
    '1 / 0',
    '-inputs.text',
    'inputs.list.map',
    'inputs.toString',
    'inputs.text.at',
    'inputs.list.foo',
    'nothing.here',
    '1 in inputs.n',
    '(1 + "a") == 2',
  ])('%s is unknown, never an exception or a guess', (source) => {
    expect(value(source)).toBeUndefined()
  })

  test('compares objects by content', () => {
    const parsed = parseExpression('a == b')
    if (!parsed.ok) throw new Error(parsed.message)
    expect(evaluateExpression(parsed.expression, { a: { x: 1, y: [2] }, b: { y: [2], x: 1 } })).toBe(true)
    expect(evaluateExpression(parsed.expression, { a: { x: 1 }, b: { x: 2 } })).toBe(false)
  })

  test('skips the side that && and || do not need', () => {
    expect(value('inputs.flag && nothing.here > 1')).toBe(false)
    expect(value('inputs.n || nothing.here')).toBe(3)
  })
})

describe('parseExpression()', () => {
  test.each([
    ['', 'is empty'],
    ['f(1)', 'calls'],
    ['inputs.text.at(0)', 'calls'],
    ['inputs.constructor', 'not allowed'],
    ['inputs["__proto__"]', 'not allowed'],
    ['inputs[inputs.text]', 'literal'],
    ['this', '"this"'],
    ['[1, 2]', 'list literals'],
    ['a b', 'one value'],
    ['a; b', 'one value'],
    ['(a, b)', 'commas'],
    ['a = 1', 'cannot be read'],
    ['a ?? b', '"??"'],
    ['a ** 2', '"**"'],
    ['~a', '"~"'],
    ['1e999', 'too large'],
    ['"\\u0041"', 'escape'],
    ['"abc', 'cannot be read'],
    ['"abc".length', 'named root'],
    [`${'!'.repeat(21)}a`, 'deeper than 20'],
    ['('.repeat(999), 'cannot be read'],
    [`"${'a'.repeat(1_000)}"`, 'the limit is 1000'],
  ])('refuses %.30s: %s', (source, reason) => {
    const parsed = parseExpression(source)
    expect(parsed).toMatchObject({ ok: false, message: expect.stringContaining(reason) })
  })

  test('answers the places it reads', () => {
    const parsed = parseExpression('inputs.a.b > 1 && outputs["x-y"].length < 2 || !inputs.c')
    expect(parsed.ok && parsed.expression.paths).toEqual([
      ['inputs', 'a', 'b'],
      ['outputs', 'x-y', 'length'],
      ['inputs', 'c'],
    ])
  })

  test('takes a chain of one operator as one level', () => {
    expect(parseExpression(Array.from({ length: 60 }, (_, i) => `a${i}`).join(' && ')).ok).toBe(true)
  })

  test('never throws, for any text and any values', () => {
    const tokens = fc.constantFrom(
      'inputs',
      '.',
      'a',
      '[',
      ']',
      '(',
      ')',
      '"',
      "'",
      '0',
      '1',
      '!',
      '-',
      '+',
      '&&',
      '||',
    )
    const more = fc.constantFrom(
      '==',
      '<',
      ' in ',
      '?',
      ':',
      '%',
      '__proto__',
      'constructor',
      ',',
      ';',
      ' ',
      '\\',
      '?.',
    )
    const source = fc.oneof(
      fc.string(),
      fc.array(fc.oneof(tokens, more), { maxLength: 30 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(source, fc.dictionary(fc.constantFrom('a', 'length', '0'), fc.jsonValue()), (text, a) => {
        const parsed = parseExpression(text)
        if (!parsed.ok) return
        const roots = JSON.parse(JSON.stringify({ inputs: a, a }))
        const result = evaluateExpression(parsed.expression, roots)
        expect(result === undefined || JSON.stringify(result) !== undefined).toBe(true)
        expect(typeof result).not.toBe('function')
      }),
      { numRuns: 2_000 },
    )
  })
})
