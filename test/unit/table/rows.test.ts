import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Row, TABLE_LIMITS } from '../../../shared/table/columns.ts'
import { SEPARATORS } from '../../../shared/table/delimited-text.ts'
import { type ReadQuestion, readRows, TABLE_FORMATS } from '../../../shared/table/read-rows.ts'
import { type WriteQuestion, writeRows } from '../../../shared/table/write-rows.ts'
import { decodeText, ENCODINGS, type Encoding } from '../../../shared/text/encodings.ts'
import type { Json } from '../../../shared/text/json.ts'
import { atMost } from '../../how-much.ts'

const AMOUNT = { columns: { amount: 'number' } } as const

function rowsOf(source: Json, question: ReadQuestion = {}): readonly Row[] {
  const read = readRows(source, question)
  if ('problem' in read) throw new Error(read.problem)
  return read.rows
}

function textOf(rows: Json, question: Partial<WriteQuestion> = {}): string {
  const written = writeRows(rows, { format: 'csv', ...question })
  if ('problem' in written) throw new Error(written.problem)
  return written.text
}

describe('readRows()', () => {
  const pair = [{ a: '1', b: 'x y' }]
  test.each<[string, string, Json]>([
    ['commas', 'a,b\n1,x y\n', pair],
    ['semicolons', 'a;b\r\n1;x y\r\n', pair],
    ['tabs', 'a\tb\r1\tx y', pair],
    ['pipes', 'a|b\n1|x y', pair],
    ['the separator that Excel is told', 'sep=;\r\na;b\r\n1;x y', pair],
    [
      'the separator that Excel is told, though another stands there more often',
      'sep=;\na;b,c,d\n1;2',
      [{ a: '1', 'b,c,d': '2' }],
    ],
    ['a byte order mark', '\uFEFFa,b\n1,x y', pair],
    ['blank lines before, between and behind', '\n\na,b\n\n1,x y\n\n', pair],
    ['quotes, separators and breaks in quotes', 'a,b\n"1,""\n\r\n2""",", "', [{ a: '1,"\n\r\n2"', b: ', ' }]],
    ['separators in quotes of the header as no separators', '"a,b,c";d\n1;2', [{ 'a,b,c': '1', d: '2' }]],
    ['one column, and empty cells of it in quotes', 'a\n""\n1', [{ a: '' }, { a: '1' }]],
    ['texts as they are: zeros, blanks, numbers', 'a,b\n007, 1e3 ', [{ a: '007', b: ' 1e3 ' }]],
    ['NDJSON', '{"a":"1","b":2}\n\n{"a":null}\r\n', [{ a: '1', b: 2 }, { a: null }]],
    ['a list of JSON', ' [{"a":"1"},{"b":[1]}]', [{ a: '1' }, { b: [1] }]],
    ['a header alone', 'a,b', []],
    ['nothing', '', []],
    ['blank lines', '\n\n', []],
  ])('reads %s', (_, text, rows) => {
    expect(rowsOf(text)).toEqual(rows)
  })

  test('reads rows that are rows already', () => {
    expect(rowsOf([{ a: 1 }])).toEqual([{ a: 1 }])
  })

  test.each<[string | Json[], ReadQuestion, readonly string[]]>([
    ['z,a,10,9\n1,2,3,4', {}, ['z', 'a', '10', '9']],
    ['z,a', { columns: { more: { required: false } } }, ['z', 'a', 'more']],
    ['{"z":1}\n{"a":1,"z":2}', {}, ['z', 'a']],
    ['', {}, []],
  ])('tells the columns of %j in their order', (source, question, columns) => {
    expect(readRows(source, question)).toMatchObject({ columns })
  })

  test('reads what was said rather than what it would find out', () => {
    expect(rowsOf('a;b,c\n1;2,3', { separator: ',' })).toEqual([{ 'a;b': '1;2', c: '3' }])
    expect(rowsOf('a,b,c\td\n1\t2', { format: 'tsv' })).toEqual([{ 'a,b,c': '1', d: '2' }])
    expect(rowsOf('[a\n1', { format: 'csv' })).toEqual([{ '[a': '1' }])
    expect(rowsOf('', { format: 'ndjson', columns: { a: 'text' } })).toEqual([])
  })

  test('gives declared columns their types, and optional ones null where they are empty or not there', () => {
    const columns = {
      id: 'integer',
      amount: { type: 'number', required: false },
      paid: 'boolean',
      on: 'date',
      note: 'text',
      extra: { required: false },
    } as const
    const text = 'id,amount,paid,on,note,free\n 7 ,-1.5e2,TRUE,2024-02-29,,x\n-8,,false,2026-11-30T14:05:00Z,  ,y'
    expect(rowsOf(text, { columns })).toEqual([
      { id: 7, amount: -150, paid: true, on: '2024-02-29', note: '', free: 'x', extra: null },
      { id: -8, amount: null, paid: false, on: '2026-11-30T14:05:00Z', note: '  ', free: 'y', extra: null },
    ])
    const json = [{ id: 7, amount: '2', paid: true, on: '2024-02-29', note: '', free: { a: 1 } }]
    expect(rowsOf(json, { columns })).toEqual([{ ...json[0], amount: 2, extra: null }])
  })

  test.each<[string, string | Json[], ReadQuestion, string, string]>([
    [
      'no number',
      'id,amount\n1,2\n2,"12,5"',
      AMOUNT,
      'table_row',
      'line 3, column "amount" (2): "12,5" is not allowed; allowed is a number with a decimal point',
    ],
    [
      'no number behind a cell of two lines',
      'id,amount\n"1\n1",x',
      AMOUNT,
      'table_row',
      'line 3, column "amount" (2): "x"',
    ],
    [
      'a second wrong row',
      'amount\nx\ny\nz',
      AMOUNT,
      'table_row',
      'line 2, column "amount" (1): "x" is not allowed; allowed is a number with a decimal point, as -3.14 or 2e6; and 2 more rows are wrong',
    ],
    [
      'a number a double would change',
      'amount\n9007199254740993',
      AMOUNT,
      'table_row',
      'would become 9007199254740992',
    ],
    [
      'an empty number',
      'id,amount\n1,',
      AMOUNT,
      'table_row',
      'it is empty; allowed is a number with a decimal point, as -3.14 or 2e6, or the column is declared with required: false',
    ],
    [
      'half a number',
      'n\n1.5',
      { columns: { n: 'integer' } },
      'table_row',
      '"1.5" is not allowed; allowed is a whole number',
    ],
    [
      'a day that is none',
      'd\n2026-02-29',
      { columns: { d: 'date' } },
      'table_row',
      '"2026-02-29" is not allowed; allowed is a day or moment that exists',
    ],
    ['yes', 'b\nyes', { columns: { b: 'boolean' } }, 'table_row', '"yes" is not allowed; allowed is true or false'],
    [
      'too few cells',
      'a,b\n1,2\n3',
      {},
      'table_row',
      'line 3 has 1 cell, the header line has 2 columns (separator comma; the line begins "3")',
    ],
    [
      'too many cells',
      'a;b\n1;2;3',
      {},
      'table_row',
      'line 2 has 3 cells, the header line has 2 columns (separator semicolon; the line begins "1;2;3")',
    ],
    [
      'a missing column',
      'id,ammount\n1,2',
      AMOUNT,
      'table_header',
      'line 1 has no column "amount"; it has "id", "ammount". Did you mean "ammount"?',
    ],
    [
      'another separator',
      'id^amount\n1^2',
      AMOUNT,
      'table_header',
      'it has "id^amount". Is the separator another one?',
    ],
    ['nothing where something is required', '', AMOUNT, 'table_header', 'line 1 has no column "amount"; it has none'],
    [
      'an unknown column',
      'amount,x\n1,2',
      { ...AMOUNT, strict: true },
      'table_header',
      'line 1 has the unknown column "x"; allowed are "amount"',
    ],
    [
      'a column twice',
      'a,b,a\n1,2,3',
      {},
      'table_header',
      'line 1, column 3 has the name "a" that column 1 has already',
    ],
    ['a column without a name', 'a,,c\n1,2,3', {}, 'table_header', 'line 1, column 2 of the header has no name'],
    ['a name that is none', 'a,__proto__\n1,2', {}, 'table_header', 'column 2 of the header has the name "__proto__"'],
    [
      'an open quote',
      'a,b\n1,2\n3,"4',
      {},
      'table_malformed',
      'line 3, cell 2 has a quote that does not open or close a whole field',
    ],
    ['a quote inside', 'a,b\n1,2"3"', {}, 'table_malformed', 'line 2, cell 2 has a quote that does not'],
    ['text behind a quote', 'a\n"1" ', {}, 'table_malformed', 'line 2, cell 1 has a quote that does not'],
    [
      'an unknown sep=',
      'sep=^\na^b',
      {},
      'table_malformed',
      'line 1 says the separator "^"; allowed are comma, semicolon, tab, pipe',
    ],
    ['JSON that is none', '[{"a":1}', {}, 'table_malformed', 'as JSON cannot be read'],
    ['JSON with a key twice', '[{"a":1,"a":2}]', {}, 'table_malformed', '"a"'],
    ['a line of NDJSON that is none', '{"a":1}\n{"a":', {}, 'table_malformed', 'line 2: as JSON cannot be read'],
    [
      'a line of NDJSON that is no object',
      '{"a":1}\n[1]',
      {},
      'table_malformed',
      'line 2 is a list; each row is an object',
    ],
    ['a row that is no object', [{ a: 1 }, 7], {}, 'table_malformed', 'row 2 is 7; each row is an object'],
    ['a member that is missing', [{ amount: 1 }, {}], AMOUNT, 'table_header', 'row 2 has no column "amount"'],
    [
      'a member of another type',
      [{ amount: true }],
      AMOUNT,
      'table_row',
      'row 1, member "amount": true is not allowed',
    ],
  ])('refuses %s, with its place, what is there and what is allowed', (_, source, question, code, said) => {
    const read = readRows(source, question)
    expect(read).toMatchObject({ problem: expect.stringContaining(said) })
    if (!said.startsWith('row 2 has no')) expect(read).toMatchObject({ code })
  })

  test.each<[string, string, string]>([
    ['rows', `a\n${'1\n'.repeat(TABLE_LIMITS.rows + 1)}`, 'one row more than the 100000 rows'],
    ['columns', Array.from({ length: 1_001 }, (_, at) => `c${at}`).join(','), 'has 1001 columns, more than the 1000'],
    [
      'cells',
      `${'abcdefghij'.split('').join(',')}\n${`${'1,'.repeat(9)}1\n`.repeat(40_001)}`,
      'more cells than the 400000',
    ],
    ['characters of a cell', `a\n${'x'.repeat(262_145)}`, 'line 2, cell 1 is longer than the 262144 characters'],
  ])('says when there are more %s than are allowed', (_, text, said) => {
    expect(readRows(text, {})).toEqual({ code: 'table_too_large', problem: expect.stringContaining(said) })
  })

  test('reads 500 tickets whose texts have line breaks in quotes as 500 rows', () => {
    const tickets = Array.from(
      { length: 500 },
      (_, at) => `T-${at},"Dear all,\r\n${at % 50 === 0 ? '\n' : ''}it fails, ""again"""`,
    )
    const text = `id,text\r\n${tickets.join('\r\n')}\r\n`
    expect(text.split('\n').length).toBeGreaterThan(1_000)
    const rows = rowsOf(text)
    expect([rows.length, rows.at(-1)]).toEqual([500, { id: 'T-499', text: 'Dear all,\r\nit fails, "again"' }])
  })

  test('takes linear time and no deep stack for what a regular expression would trip over', {
    tags: ['thorough'],
  }, () => {
    const cell = '""'.repeat(130_000)
    expect(rowsOf(`a,b\n"${cell}",1`)).toEqual([{ a: '"'.repeat(130_000), b: '1' }])
    expect(readRows(`a\n"${'""'.repeat(4_000_000)}`, {})).toMatchObject({ code: 'table_malformed' })
    expect(readRows(','.repeat(8_000_000), {})).toMatchObject({ code: 'table_too_large' })
  })
})

describe('writeRows()', () => {
  const rows = [
    { id: 1, text: 'a, "b"\nc', tags: ['x', { b: 1, a: null }] },
    { more: true, id: -2.5, text: null },
  ]

  test('writes columns in the order in which they are first seen, nested values as canonical JSON', () => {
    expect(textOf(rows)).toBe('id,text,tags,more\n1,"a, ""b""\nc","[""x"",{""a"":null,""b"":1}]",\n-2.5,,,true\n')
  })

  test('writes given columns alone, in the given order, with the separator, line ends and mark it is told', () => {
    const question = { columns: ['text', 'id', 'none'], separator: ';', line_end: 'crlf', bom: true } as const
    expect(textOf(rows, question)).toBe('\uFEFFtext;id;none\r\n"a, ""b""\nc";1;\r\n;-2.5;\r\n')
  })

  test('writes NDJSON and JSON', () => {
    const two = [{ a: 1, b: 'x' }, { b: null }]
    expect(textOf(two, { format: 'ndjson' })).toBe('{"a":1,"b":"x"}\n{"b":null}\n')
    expect(JSON.parse(textOf(two, { format: 'json', columns: ['b'] }))).toEqual([{ b: 'x' }, { b: null }])
  })

  test('puts an apostrophe before what a spreadsheet would run, and not before numbers', () => {
    const cells = ['=1+1', '+49 30', '-', '@x', '\tx', '\rx', "'=1", '-5', '+3.5e2', -5, 'x=1', "'x"]
    const written = textOf(cells.map((a) => ({ a })))
    expect(written.split('\n').slice(1, -1)).toEqual([
      "'=1+1",
      "'+49 30",
      "'-",
      "'@x",
      '"\'\tx"',
      '"\'\rx"',
      "''=1",
      '-5',
      '+3.5e2',
      '-5',
      'x=1',
      "'x",
    ])
    expect(textOf([{ '=a': '=1' }], { formulas: 'keep' })).toBe('"=a"\n=1\n')
    expect(textOf([{ a: '=1' }], { format: 'ndjson' })).toBe('{"a":"=1"}\n')
  })

  test.each<[string, Json, Partial<WriteQuestion>, string, string]>([
    ['no list', { a: 1 }, {}, 'table_malformed', 'it is a mapping; rows are a list of objects'],
    [
      'an item that failed',
      [{ a: 1 }, null],
      {},
      'table_malformed',
      'row 2 is nothing (null); each row is an object (of a foreach',
    ],
    ['rows without members', [{}], {}, 'table_header', 'its rows have no members'],
    ['a member without a name', [{ a: 1, ' ': 2 }], {}, 'table_header', 'column 2 has no name'],
    [
      'a cell too long',
      [{ a: 'x'.repeat(262_145) }],
      {},
      'table_too_large',
      'row 1, column "a" is longer than the 262144',
    ],
    [
      'too many bytes',
      Array.from({ length: 60 }, () => ({ a: 'é'.repeat(100_000) })),
      {},
      'table_too_large',
      'as csv it has',
    ],
  ])('refuses %s', (_, list, question, code, said) => {
    expect(writeRows(list, { format: 'csv', ...question })).toEqual({ code, problem: expect.stringContaining(said) })
  })

  test('is read back as the same rows: texts of any characters, each format, separator and line end', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n,;|"\' 1sep[{\uFEFF'), maxLength: 8 }),
    )
    const name = text.filter((one) => one.trim() !== '' && !['__proto__', 'constructor', 'prototype'].includes(one))
    const names = fc.uniqueArray(name, { minLength: 1, maxLength: 4 })
    const table = names.chain((columns) =>
      fc.array(fc.tuple(...columns.map(() => text)), { maxLength: 6 }).map((cells) => {
        return cells.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] ?? ''])))
      }),
    )
    const question = fc.record({
      format: fc.constantFrom(...TABLE_FORMATS),
      separator: fc.constantFrom(...Object.values(SEPARATORS)),
      line_end: fc.constantFrom('lf', 'crlf'),
      bom: fc.boolean(),
      formulas: fc.constantFrom('escape', 'keep'),
      said: fc.boolean(),
    })
    const law = fc.property(table, question, (rows, { said, ...given }) => {
      const decoded = decodeText(new TextEncoder().encode(textOf(rows, given)), said ? 'utf-8' : undefined)
      const { format, formulas, separator } = given
      const told = format === 'csv' ? { format, separator } : { format }
      // What was written is found out, too, where nobody says it.
      expect(rowsOf('text' in decoded ? decoded.text : [decoded], { formulas, ...(said ? told : {}) })).toEqual(rows)
    })
    void fc.assert(law, { numRuns: atMost(5_000, 200) })
  })
})

describe('decodeText()', () => {
  const utf16 = (text: string, big: boolean) => {
    const bytes = new Uint8Array(text.length * 2)
    for (let at = 0; at < text.length; at += 1) new DataView(bytes.buffer).setUint16(at * 2, text.charCodeAt(at), !big)
    return bytes
  }

  test.each<[string, Uint8Array, Encoding | undefined]>([
    ['UTF-8', new TextEncoder().encode('a,ü€😀'), undefined],
    ['UTF-8 with a mark, whatever is said', new TextEncoder().encode('\uFEFFa,ü€😀'), 'windows-1252'],
    ['UTF-16LE with a mark', utf16('\uFEFFa,ü€😀', false), undefined],
    ['UTF-16BE with a mark', utf16('\uFEFFa,ü€😀', true), undefined],
    ['UTF-16LE as it is said', utf16('a,ü€😀', false), 'utf-16le'],
    ['UTF-16BE as it is said', utf16('a,ü€😀', true), 'utf-16be'],
  ])('reads %s', (_, bytes, said) => {
    expect(decodeText(bytes, said)).toEqual({ text: 'a,ü€😀' })
  })

  test('reads windows-1252 as it is, whatever the version of Node makes of it', () => {
    expect(decodeText(Uint8Array.of(0x61, 0xfc, 0x80, 0x93, 0x94, 0x9f, 0x81), 'windows-1252')).toEqual({
      text: 'aü€“”Ÿ\u0081',
    })
    const all = Uint8Array.from({ length: 256 }, (_, at) => at)
    expect(decodeText(all, 'windows-1252')).toEqual({ text: new TextDecoder('windows-1252').decode(all) })
  })

  test.each<[string, Uint8Array, Encoding | undefined, string]>([
    [
      'another encoding',
      Uint8Array.of(0x61, 0x0a, 0x62, 0xfc, 0x63),
      undefined,
      'its bytes are not UTF-8: byte 4, in line 2, is 0xFC. Say which encoding it has',
    ],
    ['a character cut off', Uint8Array.of(0x61, 0xc3), undefined, 'its bytes are not UTF-8: byte 2'],
    ['UTF-16 without a mark', utf16('a,b,c', false), undefined, 'look like UTF-16 without a byte order mark'],
    ['half of a unit', Uint8Array.of(0xff, 0xfe, 0x61), undefined, 'its 3 bytes are not UTF-16LE'],
    ['half of a pair', utf16('\ud800', true), 'utf-16be', 'are not UTF-16BE'],
  ])('refuses %s and names the encodings there are', (_, bytes, said, problem) => {
    expect(decodeText(bytes, said)).toEqual({ problem: expect.stringContaining(problem) })
    expect(JSON.stringify(decodeText(bytes, said))).toContain(ENCODINGS.join(' | '))
  })
})
