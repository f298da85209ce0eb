import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCsv } from '../../../shared/table/tabular-data.ts'

describe('parseCsv()', () => {
  test.each([
    [
      'plain records',
      'a,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'quotes, separators and line breaks inside quotes',
      '"a, ""x""",b\r\n"1\n2",3\r\n',
      [
        ['a, "x"', 'b'],
        ['1\n2', '3'],
      ],
    ],
    [
      'an empty last field',
      'a,b\n1,\n',
      [
        ['a', 'b'],
        ['1', ''],
      ],
    ],
    [
      'blank lines and a byte order mark',
      '\uFEFFa,b\n\n1,2\n\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'semicolons when they occur most in the first line',
      'a;"b,c,d";e\n1;2;3',
      [
        ['a', 'b,c,d', 'e'],
        ['1', '2', '3'],
      ],
    ],
    ['nothing', '', []],
  ])('reads %s', (_, text, records) => {
    expect(parseCsv(text)).toEqual({ records })
  })

  test.each([
    ['an unclosed quote', 'a,b\n1,"2', 'line 2 has a quote that does not open or close a whole field'],
    ['a quote inside a bare field', 'a,b\n1,2"3', 'line 2 has a quote that does not open or close a whole field'],
    ['a record of another width', 'a,b\n1,2\n1,2,3', 'line 3 has 3 fields, the first line has 2'],
  ])('names the line of %s', (_, text, problem) => {
    expect(parseCsv(text)).toEqual({ problem })
  })

  test('looks for the separator in the whole first record: a field of it may have line breaks', () => {
    expect(parseCsv('"a\t\n",b\r\nc,d')).toEqual({
      records: [
        ['a\t\n', 'b'],
        ['c', 'd'],
      ],
    })
  })

  test('reads back whatever a writer of RFC 4180 wrote', () => {
    const record = (width: number) => fc.array(fc.string({ unit: 'binary' }), { minLength: width, maxLength: width })
    const table = fc
      .integer({ min: 2, max: 5 })
      .chain((width) => fc.array(record(width), { minLength: 1, maxLength: 8 }))
    const write = (records: readonly string[][]) =>
      records.map((fields) => fields.map((text) => `"${text.replaceAll('"', '""')}"`).join(',')).join('\r\n')
    const law = fc.property(table, (records) => {
      expect(parseCsv(write(records))).toEqual({ records })
    })
    void fc.assert(law)
  })
})
