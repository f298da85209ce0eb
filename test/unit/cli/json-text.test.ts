import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonText, plainText } from '../../../clients/cli/terminal/text.ts'

describe('jsonText()', () => {
  test('writes what a terminal could obey as escapes', () => {
    expect(jsonText({ a: '\u001b[2J\u009b2J\u202e' })).toBe('{"a":"\\u001b[2J\\u009b2J\\u202e"}')
  })

  test('keeps the data and prints nothing that plainText() would take out', () => {
    void fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        expect(JSON.parse(jsonText(value, 2))).toEqual(JSON.parse(JSON.stringify(value)))
        expect(plainText(jsonText(value, 2))).toBe(jsonText(value, 2))
      }),
    )
  })
})
