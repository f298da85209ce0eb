import { Ajv2020 } from 'ajv/dist/2020.js'
import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import { evalJsonSchema, parseEval } from '../../../shared/evals/eval-file.ts'
import { fillItem, tableItems, writtenItems } from '../../../shared/evals/items.ts'
import { readText } from '../docs/markdown.ts'

const GOOD = `data: { file: items.csv, id: ticket }
document: ../dags/reply.yaml
variants:
  - { name: a }
  - { name: b, set: { write.agent.model: big } }
expect:
  - { name: right, block: write, check: { type: contains, port: reply, values: ["{{item.code}}"] } }
`

function refusal(text: string): string {
  try {
    parseEval(text, 'evals/x.yaml')
    return 'none'
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return error.message
  }
}

describe('parseEval()', () => {
  test('fills defaults in', () => {
    expect(parseEval(GOOD, 'evals/x.yaml')).toMatchObject({
      concurrency: 4,
      decisions: 'stop',
      gates: [],
      thresholds: [],
    })
  })

  test.each<[string, string, RegExp]>([
    [
      'an unknown key',
      GOOD.replace('document:', 'documnt:'),
      /x\.yaml:2:1: documnt is an unknown key; .*Did you mean "document"\?/,
    ],
    [
      'two sources of items',
      GOOD.replace('id: ticket', 'items: [{ values: {} }]'),
      /x\.yaml:1:7: data .*give exactly one of file, items, runs/,
    ],
    ['no document', GOOD.replace(/document:.*\n/, ''), /x\.yaml:3:5: variants\[0\] names no document\. Give one of/],
    [
      'a name twice',
      GOOD.replace('name: b', 'name: a'),
      /x\.yaml:5:13: variants\[1\]\.name \("a"\) is the name of number 1 too/,
    ],
    ['a number out of bounds', `${GOOD}concurrency: 200\n`, /x\.yaml:8:14: concurrency is 200; the limit is 100/],
    [
      'a check of no type there is',
      GOOD.replace(
        'type: contains, port: reply, values: ["{{item.code}}"]',
        'type: contians, port: reply, values: [x]',
      ),
      /x\.yaml:7:49: expect\[0\]\.check\.type is refused: Unknown gate type "contians"\. Did you mean "contains"\?/,
    ],
    [
      'a threshold without a bound',
      `${GOOD}thresholds: [{ measure: passed }]\n`,
      /x\.yaml:8:14: thresholds\[0\] .*give min, max or both/,
    ],
    [
      'a threshold of a variant there is not',
      `${GOOD}thresholds: [{ measure: passed, variant: c, min: 1 }]\n`,
      /x\.yaml:8:42: thresholds\[0\]\.variant \("c"\) is no variant\. There are: a, b\./,
    ],
    ['what is no YAML', 'data: [\n', /x\.yaml:\d+:\d+: /],
  ])('refuses %s, at its place, with what is allowed', (_, text, words) => {
    expect(refusal(text)).toMatch(words)
  })
})

describe('evalJsonSchema()', () => {
  const validate = new Ajv2020({ strict: false }).compile(evalJsonSchema())

  test('is what docs/eval.schema.json holds (vitest -u writes it anew)', async () => {
    await expect(`${JSON.stringify(evalJsonSchema(), null, 2)}\n`).toMatchFileSnapshot('../../../docs/eval.schema.json')
  })

  test('accepts the shipped evaluation, which names it in its first line', () => {
    const text = readText('evals/ticket-reply.yaml')
    validate(load(text))
    expect(validate.errors).toBe(null)
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../docs/eval.schema.json')
    expect(validate({ ...(load(text) as object), concurency: 1 })).toBe(false)
  })
})

describe('items', () => {
  const data = (more: object) => parseEval(GOOD, 'x.yaml').data && { ...parseEval(GOOD, 'x.yaml').data, ...more }

  test('of CSV and NDJSON are the rows, named by a column or by their number', () => {
    const csv = tableItems('ticket;text\nT-1;"a; b"\nT-2;c\n', 'items.csv', data({}))
    expect(csv.map(({ id, values }) => [id, values.text])).toEqual([
      ['T-1', 'a; b'],
      ['T-2', 'c'],
    ])
    const lines = tableItems('{"n":1}\n{"n":2}\n', 'items.ndjson', data({ id: undefined, limit: 1 }))
    expect(lines.map(({ id, values }) => [id, values])).toEqual([['1', { n: 1 }]])
  })

  test.each<[string, string, RegExp]>([
    ['a name twice', 'ticket\nT-1\nT-1\n', /items 1 and 2 are both called "T-1"/],
    ['no name', 'ticket,x\n,1\n', /row 1 has nothing to be named by/],
    ['another header', 'tickt\nT-1\n', /no column "ticket" \(data\.id\); it has "tickt"/],
    ['a broken row', 'ticket,x\nT-1\n', /line 2 has 1 cell, the header line has 2 columns/],
    ['nothing', 'ticket\n', /it has no items/],
  ])('refuse %s', (_, text, words) => {
    expect(() => tableItems(text, 'items.csv', data({}))).toThrow(words)
  })

  test('of another value, or of which another thing is expected, are others', () => {
    const item = (values: object, expected: object[] = []) =>
      writtenItems('x.yaml', data({ file: undefined, items: [{ id: 'a', values, expect: expected }] }))[0]?.sha256
    expect(item({ x: 1 })).toBe(item({ x: 1 }))
    expect(item({ x: 1 })).not.toBe(item({ x: 2 }))
    expect(item({ x: 1 })).not.toBe(
      item({ x: 1 }, [{ name: 'n', block: 'b', check: { type: 'not_empty', port: 'p' } }]),
    )
  })

  test('fill placeholders once: alone the value itself, inside of a text its words', () => {
    const item = { id: 'a', values: { n: 3, 'two words': '{{item.n}}', list: [1] }, sha256: '', expect: [] }
    const given = {
      a: '{{item.n}}',
      b: ['n is {{ item.n }}', '{{item.two words}}'],
      c: 'x{{item.list}}',
      d: '{{inputs.n}}',
    }
    expect(fillItem(given, item, 'it')).toEqual({ a: 3, b: ['n is 3', '{{item.n}}'], c: 'x[1]', d: '{{inputs.n}}' })
    expect(() => fillItem('{{item.m}}', item, 'input "m"')).toThrow(
      'Cannot fill input "m" of item "a": it has no column "m"',
    )
    expect(() => fillItem('{{item.constructor}}', item, 'it')).toThrow('no column')
  })
})
