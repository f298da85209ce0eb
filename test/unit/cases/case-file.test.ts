import { describe, expect, test } from 'vitest'
import { casesSchema, parseCases, unknownNames } from '../../../shared/cases/case-file.ts'

const FILE = 'tests/x.yaml'

function refusal(text: string): string {
  try {
    parseCases(text, FILE)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'it was taken'
}

const head = 'dag: refund\ncases:\n  - name: one\n'

describe('parseCases()', () => {
  test('gives each case what stands above all of them, its own values first', () => {
    const { dag, cases } = parseCases(
      `dag: refund
inputs: { a: 1, b: 2 }
models: { big: Yes. }
cases:
  - { name: one, inputs: { b: 3 } }
  - { name: two, models: { big: No. } }
`,
      FILE,
    )
    expect(dag).toBe('refund')
    expect(cases.map(({ inputs }) => inputs)).toEqual([
      { a: 1, b: 3 },
      { a: 1, b: 2 },
    ])
    expect(cases.map(({ models }) => models)).toEqual([{ big: 'Yes.' }, { big: 'No.' }])
  })

  test.each<[string, string, readonly string[]]>([
    ['an unknown key', `${head}    expct: {}\n`, [`${FILE}:4:5: `, 'expct', 'Did you mean "expect"?']],
    [
      'an unknown key inside',
      `${head}    expect:\n      statu: completed\n`,
      [`${FILE}:5:7: `, 'statu', 'Did you mean "status"?'],
    ],
    [
      'a state that is none',
      `${head}    expect: { status: complete }\n`,
      [`${FILE}:4:23: `, '"complete"', 'allowed are "running", "completed"', 'Did you mean "completed"?'],
    ],
    [
      'a key of a script',
      `${head}    models: { big: [{ sya: Hello. }] }\n`,
      [`${FILE}:4:23: `, 'sya', 'Did you mean "say"?'],
    ],
    [
      'a matcher',
      `${head}    expect: { outputs: { a.b: { equal: 1 } } }\n`,
      [`${FILE}:4:33: `, 'equal', 'Did you mean "equals"?'],
    ],
    [
      'a gate type',
      `${head}    expect: { outputs: { a.b: { gates: [{ type: contain, values: [x] }] } } }\n`,
      [`${FILE}:4:`, 'contain', 'contains'],
    ],
    [
      'an answer that is none',
      `${head}    models: { big: [{ when: { prompt: x } }] }\n`,
      ['neither answers nor fails'],
    ],
    ['a step that does both', `${head}    steps: { a: [{ outputs: {}, fail: { reason: x } }] }\n`, ['exactly one']],
    ['a name twice', `${head}  - name: one\n`, [`${FILE}:4:11: `, 'the name of case 1 too']],
    ['a time that is none', `${head}    events: [{ name: a, after: soon }]\n`, [`${FILE}:4:32: `, '"soon"', '90s, 2h']],
    ['no cases', 'dag: refund\n', [`${FILE}:1:1: `, 'cases is missing', 'Add "cases".']],
    ['no YAML', 'dag: [', [`${FILE}:`]],
  ])('refuses %s, and says where, what was seen and what is allowed', (_what, text, words) => {
    const said = refusal(text)
    for (const word of words) expect(said).toContain(word)
  })

  test('takes every gate type, whose port is the value unless it names one', () => {
    const check = (gate: string) => parseCases(`${head}    expect: { outputs: { a.b: { gates: [${gate}] } } }\n`, FILE)
    expect(check('{ type: min_length, min: 3 }').cases).toHaveLength(1)
    expect(check('{ any_of: [{ type: contains, port: value, values: [x] }] }').cases).toHaveLength(1)
    expect(check('{ type: expr, expression: "outputs.value > 3" }').cases).toHaveLength(1)
  })
})

test('a case that names what its document does not have is told so, with the nearest name', () => {
  const known = { blocks: ['book', 'receipt'], outputs: ['book.left'], gates: ['book.small'], inputs: ['order'] }
  const said = unknownNames(
    {
      inputs: { ordr: 1 },
      expect: { blocks: { bok: 'completed' }, outputs: { 'book.lft': 1 } },
      must_not: { ask: ['x'] },
    },
    known,
  )
  expect(said).toEqual([
    'inputs names "ordr", which the document does not have; there are "order". Did you mean "order"?',
    'expect.blocks names "bok", which the document does not have; there are "book", "receipt". Did you mean "book"?',
    'expect.outputs names "book.lft", which the document does not have; there are "book.left". Did you mean "book.left"?',
    'must_not.ask names "x", which the document does not have; there are "book", "receipt".',
  ])
})

test('the JSON Schema of a file of cases is what docs/tests.schema.json holds (vitest -u writes it anew)', async () => {
  await expect(`${JSON.stringify(casesSchema(), null, 2)}\n`).toMatchFileSnapshot('../../../docs/tests.schema.json')
})
