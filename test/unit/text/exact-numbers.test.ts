import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readImportLines } from '../../../clients/cli/graph/import-lines.ts'
import { typedValue } from '../../../clients/cli/terminal/input-values.ts'
import { readAnswerOutputs } from '../../../shared/runs/block-outputs.ts'
import { inexactNumber, inexactNumbers, readStrictJson } from '../../../shared/text/strict-json.ts'
import { readYaml } from '../../../shared/text/yaml.ts'

describe('changedNumber()', () => {
  test.each([
    ['9007199254740993', 9007199254740992],
    ['-9007199254740993', -9007199254740992],
    ['9007199254740993.0', 9007199254740992],
    ['9.007199254740993e15', 9007199254740992],
    ['123456789012345678901234567890', 1.2345678901234568e29],
    ['1e-400', 0],
    ['0x20000000000001', 9007199254740992],
  ])('%s becomes another number', (literal, becomes) => {
    expect(inexactNumber(literal)).toEqual({ written: literal, becomes })
  })

  test.each([
    '0',
    '-0',
    '0.0',
    '0e999',
    '9007199254740991',
    '9007199254740992',
    '1180591620717411303424',
    '1e21',
    '1.7976931348623157e+308',
    '5e-324',
    '0.1000000000000000055',
    '3.141592653589793238462643',
    '1e999',
    '0x1fffffffffffff',
    '1-2',
    'e',
  ])('%s stays what it is, or is none of its questions', (literal) => {
    expect(inexactNumber(literal)).toBeUndefined()
  })

  test('holds no double for changed, however it is written, and every whole number that is', () => {
    void fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(inexactNumber(JSON.stringify(value))).toBeUndefined()
      }),
    )
    void fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (value) => {
        expect(inexactNumber(String(value)) === undefined).toBe(BigInt(Number(value)) === value)
      }),
    )
  })
})

test('changedNumbers() finds them outside of strings', () => {
  const text = '{"a": "9007199254740993 \\" 9007199254740993", "b": [1, 9007199254740993], "c": 0.5}'
  expect(inexactNumbers(text)).toEqual([
    { written: '9007199254740993', becomes: 9007199254740992, at: text.indexOf('1, ') + 3 },
  ])
  expect(inexactNumbers(`[${'9'.repeat(1_000_000)}]`)).toEqual([])
})

test('a body with such a number is refused and told to send text', () => {
  const refused = expect.objectContaining({
    name: 'InvalidInput',
    code: 'number_inexact',
    message: expect.stringMatching(/line 2, column 8: the number 9007199254740993 would become 9007199254740992.*text/),
  })
  expect(() => readStrictJson('{\n  "a": 9007199254740993}')).toThrow(refused)
  expect(readStrictJson('{"a": "9007199254740993", "b": 0.1000000000000000055}')).toEqual({
    a: '9007199254740993',
    b: 0.1,
  })
})

test('a document with such a number is refused at its place', () => {
  for (const literal of ['9007199254740993', '0x20000000000001', '!!int 9007199254740993', '1e-400']) {
    const read = readYaml(`a:\n  b: [1, ${literal}]`)
    expect(read.ok ? [] : read.problems.map(({ code, path }) => [code, path.join('.')])).toEqual([
      ['number_inexact', 'a.b.1'],
    ])
  }
  for (const literal of ['"9007199254740993"', '!!str 9007199254740993', '0.1000000000000000055', '9007199254740992']) {
    expect(readYaml(`a: ${literal}`).ok).toBe(true)
  }
})

describe('an answer of a model with such a number', () => {
  const ports = { id: { type: 'json', required: true }, say: { type: 'string', required: false } } as const
  const words = [expect.stringMatching(/^port id cannot be stored: the number 9007199254740993 would become .*text/)]

  test('breaks the contract of the port that holds it, and of no other', () => {
    expect(readAnswerOutputs('{"id": {"n": [9007199254740993]}, "say": "x"}', ports).problems).toEqual(words)
    expect(readAnswerOutputs('```json\n{"id": 9007199254740993, "say": "x"}\n```', ports).problems).toEqual(words)
    expect(readAnswerOutputs('9007199254740993', { id: { type: 'number', required: true } }).problems).toEqual(words)
    expect(readAnswerOutputs('{"id": 1, "say": "x", "more": 9007199254740993}', ports).problems).toEqual([])
    expect(readAnswerOutputs('9007199254740993', { id: { type: 'string', required: true } }).problems).toEqual([])
  })
})

test('the CLI refuses it where values are typed and where lines are imported', async () => {
  const words = /9007199254740993 would become 9007199254740992.*text/
  expect(() => typedValue('--input', 'n', '9007199254740993', 'number')).toThrow(words)
  expect(() => typedValue('--input', 'n', '{"a": [9007199254740993]}', 'json')).toThrow(words)
  expect(typedValue('--input', 'n', '9007199254740993', 'string')).toBe('9007199254740993')
  const lines = async function* () {
    yield '{"entity_id": "a.b.c.d.e.f", "properties": {"n": 9007199254740993}}'
  }
  const { value: bad } = await readImportLines(lines(), 1).next()
  expect(bad).toMatchObject({ line: 1, code: 'malformed_line', message: expect.stringMatching(words) })
})
