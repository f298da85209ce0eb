import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contractSource, writeContract } from '../../../shared/goals/files/contract-file.ts'
import { readNotebook } from '../../../shared/goals/files/notebook.ts'
import type { GoalContract } from '../../../shared/goals/goal-contract.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'
import { atMost } from '../../how-much.ts'
import { expectLinear } from '../gates/linear.ts'

const GIVEN: GoalContract = {
  version: 1,
  goal_text: 'Say "why" – é',
  max_goal_attempts: 3,
  acceptance_criteria: [{ id: 'AC1', kind: 'finding_count', minCount: 2 }],
}
const MATTER = '---\ntitle: x\ngyoshu:\n  status: y\n  goal_contract:\n    goal_text: old\n---\n# Title\n'
const raw = (source: unknown, more: object = {}) => ({ cell_type: 'raw', metadata: {}, source, ...more })
const code = (...outputs: readonly object[]) => ({ cell_type: 'code', metadata: {}, source: 'print()', outputs })
const stream = (text: unknown, name = 'stdout') => ({ output_type: 'stream', name, text })
const book = (cells: readonly object[], more: object = {}) => ({
  cells,
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
  ...more,
})
const lines = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

function contractOf(text: string) {
  const source = contractSource('a.ipynb', text)
  if (!source.ok) return source.problem
  if (source.contract === undefined) return undefined
  const read = readGoalContract(source.contract)
  return read.ok ? read.contract : read.errors
}
function written(text: string, given = GIVEN): string {
  const edited = writeContract('a.ipynb', text, given)
  if (!edited.ok) throw new Error(edited.problem)
  expect(contractOf(edited.text)).toEqual(given)
  return edited.text
}

describe('readNotebook()', () => {
  test('takes what code cells printed to stdout, cell by cell, whole', () => {
    const read = readNotebook(
      JSON.stringify(
        book([
          raw(lines(MATTER)),
          code(stream(['[METRIC:acc', 'uracy] 0.9\n']), stream('[METRIC:bad] 1\n', 'stderr'), stream('b\n')),
          { cell_type: 'markdown', metadata: {}, source: '[METRIC:accuracy] 1' },
          code(
            { output_type: 'execute_result', data: { 'text/plain': '[METRIC:accuracy] 1' } },
            { output_type: 'error' },
          ),
          code(stream(7), stream('c')),
          raw('', { outputs: [stream('[METRIC:accuracy] 1')] }),
        ]),
      ),
    )
    expect(read.ok && read.notebook.texts).toEqual([
      { block: 'cell 2', text: '[METRIC:accuracy] 0.9\nb\n' },
      { block: 'cell 5', text: 'c' },
    ])
  })

  test.each([
    ['{', 'it is no JSON'],
    ['[]', 'it is no notebook that can be read: it:'],
    [JSON.stringify(book([], { nbformat: 3 })), 'nbformat: is it a notebook of format 4?'],
    [JSON.stringify(book([raw(7)])), 'cells.0.source:'],
    [JSON.stringify(book([raw(['a', 7])])), 'cells.0.source'],
    [JSON.stringify({ ...book([]), cells: {} }), 'cells:'],
  ])('refuses %.40s in words', (text, words) => {
    expect(readNotebook(text)).toEqual({ ok: false, problem: expect.stringContaining(words) })
    expect(writeContract('a.ipynb', text, GIVEN).ok).toBe(false)
  })
})

describe('the contract of a notebook', () => {
  const inCell = (source: string, ...others: readonly object[]) => JSON.stringify(book([...others, raw(source)]))

  test('stands in the first raw or Markdown cell, and its errors name the lines of that cell', () => {
    expect(contractOf(inCell(MATTER, code()))).toEqual([
      expect.objectContaining({ path: 'gyoshu.goal_contract.acceptance_criteria', line: 6 }),
    ])
    const later = inCell(MATTER, { cell_type: 'markdown', metadata: {}, source: '# Title' })
    expect(contractOf(later)).toBeUndefined()
    expect(contractOf(inCell('---\ntitle: x\n---\n'))).toBeUndefined()
    expect(contractOf(inCell('---\n# nothing\n---\n'))).toBeUndefined()
    expect(contractOf(JSON.stringify(book([])))).toBeUndefined()
  })

  test.each([
    ['---\ngoal_contract: { goal_text: x }\n---\n', 'it belongs under "gyoshu"'],
    ['---\ngyoshu: { goal_contrct: {} }\n---\n', '"gyoshu.goal_contrct". Did you mean "goal_contract"?'],
    ['---\ngyoshu: [goal_contract]\n---\n', 'the "gyoshu" of its front matter is no mapping'],
    ['---\ngyoshu: { goal_contract: {} }\n', 'never ends with such a line'],
  ])('is never passed over in silence: %j', (source, words) => {
    expect(contractOf(inCell(source))).toContain(words)
  })

  test('is malformed where it is there and empty', () => {
    expect(contractOf(inCell('---\ngyoshu:\n  goal_contract:\n---\n'))).toEqual([
      expect.objectContaining({ code: 'wrong_type', path: 'gyoshu.goal_contract', line: 3 }),
    ])
  })
})

describe('writing to a notebook', () => {
  const FORMS: readonly (readonly [string, (value: object) => string])[] = [
    ['as Jupyter writes it', (value) => `${JSON.stringify(value, null, 1)}\n`],
    ['on one line', (value) => JSON.stringify(value)],
    ['with Windows line breaks', (value) => JSON.stringify(value, null, 2).replaceAll('\n', '\r\n')],
    ['with escapes', (value) => JSON.stringify(value).replaceAll('é', '\\u00e9').replaceAll('/', '\\/')],
  ]
  const CELLS = [code(stream('a/é "\\\\"\n')), raw('# é/\n')]

  test.each(FORMS)('keeps every other byte: %s', (_, form) => {
    for (const source of [MATTER, lines(MATTER), [MATTER], ['---\n', MATTER.slice(4)]]) {
      const text = form(book([raw(source, { id: 'é' }), ...CELLS]))
      const at = text.indexOf('goal_contract:') + 'goal_contract:'.length
      const end = text.indexOf(' old') + ' old'.length
      const after = written(text)
      expect([after.startsWith(text.slice(0, at)), after.endsWith(text.slice(end))], after).toEqual([true, true])
      expect(written(after)).toBe(after)
    }
  })

  test.each(FORMS)('puts a raw cell first where no front matter is: %s', (_, form) => {
    for (const cells of [CELLS, []]) {
      const text = form(book(cells))
      const after = written(text)
      const value = JSON.parse(after)
      expect(value.cells[0]).toMatchObject({ cell_type: 'raw', id: 'goal-contract', metadata: {} })
      expect({ ...value, cells: value.cells.slice(1) }).toEqual(JSON.parse(text))
      const ahead = text.indexOf('[') + 1
      expect([after.slice(0, ahead), after.slice(-40)]).toEqual([text.slice(0, ahead), text.slice(-40)])
    }
  })

  test('gives the cell an id nobody has, and none before format 4.5', () => {
    const taken = JSON.stringify(book([{ ...code(), id: 'goal-contract' }]))
    expect(JSON.parse(written(taken)).cells[0].id).toBe('goal-contract-2')
    for (const nbformat_minor of [0, 4, undefined]) {
      expect(JSON.parse(written(JSON.stringify(book([], { nbformat_minor })))).cells[0]).not.toHaveProperty('id')
    }
  })

  test('parse(write(c)) = c whatever the cells say, and nothing else changes', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((one) => one.isWellFormed())
    const cell = fc.oneof(
      text.map((one) => raw(one)),
      text.map((one) => code(stream(one))),
      fc.constantFrom(raw(MATTER), raw(lines(MATTER)), raw('---\na: 1\n---\n')),
    )
    const goal = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 9 })
      .filter((one) => one.isWellFormed() && /\S/.test(one))
    fc.assert(
      fc.property(fc.array(cell, { maxLength: 4 }), fc.constantFrom(...FORMS), goal, (cells, [, form], goal_text) => {
        const before = form(book(cells))
        const head = cells.find(({ cell_type }) => cell_type === 'raw')
        const source = head === undefined ? '' : [head.source].flat().join('')
        fc.pre(!/^\uFEFF?---[ \t]*[\r\n]/.test(source) || source.includes('\n---\n'))
        const value = JSON.parse(written(before, { ...GIVEN, goal_text }))
        const rest = value.cells.length > cells.length ? value.cells.slice(1) : value.cells
        const at = cells.findIndex(({ cell_type }) => cell_type === 'raw')
        const others = (all: readonly unknown[]) =>
          all.filter((_, index) => index !== at || all.length !== value.cells.length)
        expect(others(rest)).toEqual(others(JSON.parse(before).cells))
      }),
      { numRuns: atMost(400, 80) },
    )
  })

  test('takes linear time over outputs that are large or nest deeply', async () => {
    await expectLinear((size) => {
      const deep = `${'['.repeat(size)}${']'.repeat(size)}`
      const image = '\\\\'.repeat(10 * size)
      written(
        `{"cells":[{"cell_type":"code","source":"","outputs":[{"output_type":"x","data":${deep}, "i":"${image}"}]}],"nbformat":4}`,
      )
    }, 100_000)
  })
})
