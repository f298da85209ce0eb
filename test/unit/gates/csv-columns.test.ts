import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = (columns: readonly string[], more = {}) => ({ type: 'csv_columns', port: 'table', columns, ...more })

describe('csv_columns', () => {
  test.each([['a,b\n1,2'], ['b;a;c\r\n1;2;3\r\n'], ['"a",b\n"x, y",2'], ['\ufeffa,b\n1,2']])(
    'passes for %j',
    async (table) => {
      expect((await judged(check(['a', 'b']), factsOf({ table }))).passed).toBe(true)
    },
  )

  test.each([
    ['a\n1', 'must have the columns "b"'],
    ['a,b', 'must be at least 1 rows, has 0'],
    ['', 'must have the columns "a", "b"'],
    ['a,b\n1', 'port table is not CSV: line 2 has 1 fields, the first line has 2'],
  ])('fails for %j', async (table, reason) => {
    expect((await judged(check(['a', 'b']), factsOf({ table }))).reason).toBe(reason)
  })

  test('min_rows: 0 is content with the first line', async () => {
    expect((await judged(check(['a'], { min_rows: 0 }), factsOf({ table: 'a' }))).passed).toBe(true)
  })

  test.each([[[['a']]], [{ a: 1 }], [7]])('fails for %j, which is no text', async (table) => {
    expect((await judged(check(['a']), factsOf({ table }))).reason).toMatch(/^port table must be CSV text/)
  })

  test.each([[[]], [['']]])('refuses columns %j at parse', (columns) => {
    expect(refusals(check(columns))).toHaveLength(1)
  })

  test('a table written as CSV has the columns it was written with', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é'), maxLength: 4 })
    const written = (cells: readonly string[]) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(',')
    await fc.assert(
      fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 3 }), async (row) => {
        const columns = row.map((_, at) => `column ${at}`)
        const table = [columns, row].map(written).join('\n')
        const verdict = await judged(check(columns, { min_rows: 0 }), factsOf({ table }))
        expect(verdict.reason).toMatch(/^has the columns/)
      }),
      { numRuns: 50 },
    )
  })
})
