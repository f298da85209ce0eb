import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { medianRanks, studentT } from '../../../shared/table/confidence-interval.ts'
import { type TableStats, tableStatistics } from '../../../shared/table/statistics.ts'
import { tableSentences } from '../../../shared/table/table-sentences.ts'
import { readTable, type Table } from '../../../shared/table/tabular-data.ts'
import type { Json } from '../../../shared/text/json.ts'

const table = (value: Json): Table => {
  const read = readTable(value)
  if ('problem' in read) throw new Error(read.problem)
  return read
}
const stats = (value: Json, question = {}): TableStats => {
  const described = tableStatistics(table(value), question)
  if ('problem' in described) throw new Error(described.problem)
  return described
}
const column = (values: readonly Json[]) => stats(values.map((x) => ({ x }))).columns.x

describe('studentT()', () => {
  // Printed tables of the t distribution, two-sided.
  test.each([
    [0.95, 1, 12.7062],
    [0.95, 2, 4.30265],
    [0.99, 5, 4.03214],
    [0.95, 10, 2.22814],
    [0.9, 30, 1.69726],
    [0.95, 120, 1.97993],
    [0.99, 1000, 2.58075],
  ] as const)('at %d and %d degrees of freedom is the tabulated %d', (confidence, df, t) => {
    expect(studentT(confidence, df)).toBeCloseTo(t, 4)
  })

  test('has no step where the expansion takes over', () => {
    for (const confidence of [0.9, 0.95, 0.99] as const) {
      const [before, after] = [studentT(confidence, 200), studentT(confidence, 201)]
      expect(before - after).toBeGreaterThan(0)
      expect(before - after).toBeLessThan(2e-4)
    }
  })
})

test('medianPlaces() are the tabulated order statistics, and absent for too few values', () => {
  expect(medianRanks(0.95, 5)).toBeUndefined()
  expect(medianRanks(0.95, 6)).toEqual([0, 5])
  expect(medianRanks(0.95, 10)).toEqual([1, 8])
  expect(medianRanks(0.95, 100)).toEqual([39, 60])
})

describe('readTable()', () => {
  test('reads the same table from JSON rows, JSON text and CSV text', () => {
    const rows = [
      { a: 1, b: 'x' },
      { a: null, b: 'y' },
    ]
    const expected = {
      rows: 2,
      columns: new Map<string, Json[]>([
        ['a', [1, null]],
        ['b', ['x', 'y']],
      ]),
    }
    expect(readTable(rows)).toEqual(expected)
    expect(readTable(JSON.stringify(rows))).toEqual(expected)
    expect(readTable('a,b\n1,x\n,y\n')).toEqual(expected)
  })

  test.each(['id,n\n9007199254740993,1\n', '[{"id": 9007199254740993}]'])(
    'changes no number that a double cannot hold: %j',
    (text) => {
      const problem = expect.stringMatching(/9007199254740993 would become 9007199254740992.*give it as text/)
      expect(readTable(text)).toEqual({ problem })
      expect(readTable([{ id: '9007199254740993' }])).toMatchObject({ rows: 1 })
    },
  )

  test('takes a column named __proto__ for a column', () => {
    expect(tableStatistics(table('__proto__,a\n1,2\n'))).toHaveProperty(['columns'])
    expect(Object.keys(stats('__proto__,a\n1,2\n').columns)).toEqual(['__proto__', 'a'])
  })

  test.each([
    ['a number', 7, 'it is number'],
    ['null', null, 'it is null'],
    ['an object', { a: 1 }, 'it is object'],
    ['a row that is no object', [{ a: 1 }, 2], 'row 2 is no object'],
    ['no rows', [], 'it has no rows with members'],
    ['a header alone', 'a,b', 'as CSV it has no line below a header line'],
    ['a header that repeats', 'a,a\n1,2', 'as CSV its header line names a column twice'],
  ])('says why %s is no table', (_, value, problem) => {
    expect(readTable(value)).toEqual({ problem })
  })
})

describe('describeTable()', () => {
  test('gives the textbook figures', () => {
    // R: x <- c(2,4,4,4,5,5,7,9); t.test(x); quantile(x)
    const seen = column([2, 4, 4, 4, 5, 5, 7, 9, null])
    expect(seen).toMatchObject({
      kind: 'number',
      count: 8,
      missing: 1,
      min: 2,
      q1: 4,
      median: 4.5,
      q3: 5.5,
      max: 9,
      mean: 5,
    })
    expect(seen).toMatchObject({ sd: expect.closeTo(2.13809, 5), median_ci: { low: 2, high: 9 } })
    expect(seen).toMatchObject({ mean_ci: { low: expect.closeTo(3.212512, 5), high: expect.closeTo(6.787488, 5) } })
  })

  test('has no interval and no deviation of one value', () => {
    expect(column([3])).toMatchObject({ mean: 3, sd: null, mean_ci: null, median_ci: null })
  })

  test('counts values of text, boolean, mixed and absurdly large columns', () => {
    expect(column(['b', 'a', 'b', null])).toEqual({
      kind: 'text',
      count: 3,
      missing: 1,
      distinct: 2,
      top: [
        { value: 'b', count: 2 },
        { value: 'a', count: 1 },
      ],
    })
    expect(column([true, false, true])).toMatchObject({ kind: 'text', top: [{ value: 'true' }, { value: 'false' }] })
    expect(column([1, 'x'])).toMatchObject({ kind: 'text', distinct: 2 })
    expect(column([1e300, 1])).toMatchObject({ kind: 'text' })
    expect(column([null])).toEqual({ kind: 'text', count: 0, missing: 1, distinct: 0, top: [] })
  })

  test('describes the rows of each group, ordered by its text', () => {
    const rows = [{ g: 'b', x: 1 }, { g: 'a', x: 2 }, { g: 'b', x: 3 }, { x: 4 }]
    const { groups, columns } = stats(rows, { group_by: 'g' })
    expect(Object.keys(columns)).toEqual(['x'])
    expect(groups?.map(({ group, rows: n }) => [group, n])).toEqual([
      ['(missing)', 1],
      ['a', 1],
      ['b', 2],
    ])
    expect(groups?.[2]?.columns.x).toMatchObject({ mean: 2, min: 1, max: 3 })
  })

  test('names the columns there are when one is unknown', () => {
    expect(tableStatistics(table('a,b\n1,2'), { columns: ['c'] })).toEqual({
      problem: 'there is no column "c"; it has "a", "b"',
    })
    expect(tableStatistics(table('a,b\n1,2'), { group_by: 'z' })).toHaveProperty('problem')
  })

  test('answers plain JSON without NaN for any table, and its words are finite too', () => {
    const cell = fc.oneof(fc.double(), fc.constant(null), fc.string(), fc.boolean(), fc.integer())
    const rows = fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c'), cell), { minLength: 1, maxLength: 30 })
    void fc.assert(
      fc.property(rows, (value) => {
        const clean = JSON.parse(JSON.stringify(value)) as Json
        const read = readTable(clean)
        if ('problem' in read) return
        const described = tableStatistics(read) as TableStats
        expect(JSON.parse(JSON.stringify(described))).toEqual(described)
        expect(tableSentences(described)).not.toMatch(/NaN|Infinity|undefined/)
        expect(tableStatistics(read)).toEqual(described)
      }),
    )
  })

  test('rounds what is too small for a double to 0, not to -0', () => {
    const described = column([-7e-323, 6.4e-323])
    expect(JSON.parse(JSON.stringify(described))).toEqual(described)
  })

  test('holds the order min <= q1 <= median <= q3 <= max and the median inside its interval', () => {
    void fc.assert(
      fc.property(fc.array(fc.integer({ min: -1e9, max: 1e9 }), { minLength: 1, maxLength: 60 }), (values) => {
        const seen = column(values)
        if (seen?.kind !== 'number') throw new Error('numbers make a numeric column')
        const order = [seen.min, seen.q1, seen.median, seen.q3, seen.max]
        expect(order).toEqual(order.toSorted((left, right) => left - right))
        if (seen.median_ci === null) return
        expect(seen.median_ci.low).toBeLessThanOrEqual(seen.median)
        expect(seen.median_ci.high).toBeGreaterThanOrEqual(seen.median)
      }),
    )
  })
})

test('tableWords() writes sentences with numbers and warns when the mean misleads', () => {
  const words = tableSentences(stats('area,region\n1,x\n2,x\n3,y\n4,y\n5,y\n6,y\n10000,z\n'))
  expect(words.split('\n')).toEqual([
    'The table has 7 rows and 2 columns described here.',
    'area: 7 values, none missing; from 1 to 10,000, half of them between 2.5 and 5.5; median 4 (95 % confidence interval 1 to 10,000), mean 1,432 (95 % confidence interval -2,063 to 4,926). The mean lies outside the middle half, so the median describes a typical value better.',
    'region: 7 values, none missing; 3 distinct values, most often y (4), x (2), z (1).',
  ])
})
