import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { itemsOf, type JsonPiece, membersOf } from '../../../shared/goals/files/notebook.ts'

const valuesIn = (text: string, pieces: readonly JsonPiece[]) =>
  pieces.map(({ start, end }): unknown => JSON.parse(text.slice(start, end)))
const membersIn = (text: string) => {
  const members = membersOf(text, text.indexOf('{'))
  return Object.fromEntries([...members.keys()].map((key, at) => [key, valuesIn(text, [...members.values()])[at]]))
}

describe('the pieces of a JSON text', () => {
  test.each([
    '{}',
    '{ }',
    '{"a":1}',
    '{"a":1,"b":-2.5e+3,"c":null,"d":true}',
    '{"a":[1,{"b":"]}"}],"c":2}',
    '{"a" : {"b":{}} ,\r\n\t"c": [[]]}',
    '{"a\\"b":"\\"","c":"d"}',
    '{"a":"\\\\","b":"\\\\\\"]","c":"\\\\\\\\"}',
    '{"a":"[","b":"{","c":["\\\\"],"d":"}"}',
    '{"a":1,"a":{"twice":2}}',
    '{"é":"é\\u00e9"}',
  ])('are the members of %s', (text) => {
    expect(membersIn(` ${text} {"z":9}`)).toEqual(JSON.parse(text))
  })

  test.each(['[]', '[ ]', '[1]', '[1,"]",[2],{"a":[3]}]', '[ "\\\\" ,\n null, "\\\\\\"" , -0.5 ]', '[[[]],[{}],"",0]'])(
    'are the items of %s',
    (text) => {
      expect(valuesIn(text, itemsOf(text, 0))).toEqual(JSON.parse(text))
    },
  )

  test('stand where they are said to stand', () => {
    expect([...membersOf('{"a": [1, "b"] }', 0)]).toEqual([['a', { start: 6, end: 14 }]])
    expect(itemsOf('[10, "b" ]', 0)).toEqual([
      { start: 1, end: 3 },
      { start: 5, end: 8 },
    ])
  })

  test('are those JSON.parse() sees, whatever the text says', () => {
    const value = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (given, indent) => {
        const text = JSON.stringify(given, null, indent)
        // Compared as entries: a key may be `__proto__`.
        const members = [...membersOf(text, 0)].map(([key, piece]) => [key, valuesIn(text, [piece])[0]])
        expect(members).toEqual(Object.entries(JSON.parse(text)))
        const list = JSON.stringify(Object.values(given), null, indent)
        expect(valuesIn(list, itemsOf(list, 0))).toEqual(JSON.parse(list))
      }),
      { numRuns: 200 },
    )
  })
})
