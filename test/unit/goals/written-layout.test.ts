import { describe, expect, test } from 'vitest'
import { contractSource, kindOfFile, writeContract } from '../../../shared/goals/files/contract-file.ts'
import { setYamlValue } from '../../../shared/goals/files/yaml-edit.ts'
import type { GoalContract } from '../../../shared/goals/goal-contract.ts'
import type { Json } from '../../../shared/text/json.ts'

const GIVEN: GoalContract = {
  version: 1,
  goal_text: 'g',
  max_goal_attempts: 3,
  acceptance_criteria: [{ id: 'a', kind: 'finding_count', minCount: 2 }],
}
const HUGE = { ...GIVEN, goal_text: 'x'.repeat(300_000) }

/** The document after `g: { x: 1 }` was set in it, or why it was not. */
function withG(text: string, before?: string): string {
  const edited = setYamlValue(text, ['g'], { x: 1 }, before === undefined ? {} : { before })
  return edited.ok ? edited.text : edited.problem
}

describe('setYamlValue() writes as the document is written', () => {
  test.each([
    ['', 'g:\n  x: 1\n'],
    ['# words\n', '# words\ng:\n  x: 1\n'],
    ['# words', '# words\ng:\n  x: 1\n'],
    ['a: x # one\n', 'a: x # one\ng:\n  x: 1\n'],
    ['a: x # one', 'a: x # one\ng:\n  x: 1'],
    ['a:\n  - b # one\n# two\n', 'a:\n  - b # one\ng:\n  x: 1\n# two\n'],
    ['  a: x\n', '  a: x\n  g:\n    x: 1\n'],
    ['g: old # one\na: 2\n', 'g:\n  x: 1 # one\na: 2\n'],
    ['g: |\n  old\na: 2\n', 'g:\n  x: 1\na: 2\n'],
    ['g:\n  - old\n\n# two\n', 'g:\n  x: 1\n\n# two\n'],
    ['g:\n', 'g:\n  x: 1\n'],
    ['--- !!map\na: 1\n...\n', '--- !!map\na: 1\ng:\n  x: 1\n...\n'],
  ])('in lines: %j', (text, after) => {
    expect(withG(text)).toBe(after)
    expect(withG(text.replaceAll('\n', '\r\n'))).toBe(text.includes('\n') ? after.replaceAll('\n', '\r\n') : after)
  })

  test.each([
    ['{}', '{"g": {"x":1}}'],
    ['{\n}', '{"g": {"x":1}\n}'],
    ['{ }', '{"g": {"x":1} }'],
    ['{"a": 1}', '{"g": {"x":1}, "a": 1}'],
    ['{a}', '{"g": {"x":1}, a}'],
    ['{\n  "a": 1\n}\n', '{\n  "g": {\n    "x": 1\n  },\n  "a": 1\n}\n'],
    ['{\n\t"a": 1\n}\n', '{\n\t"g": {\n\t  "x": 1\n\t},\n\t"a": 1\n}\n'],
    ['{"g": [1, {"y": 2}], "a": 1}', '{"g": {"x":1}, "a": 1}'],
    ['{\n  "g": "old",\n  "a": 1\n}', '{\n  "g": {\n    "x": 1\n  },\n  "a": 1\n}'],
    ['{"g": , "a": 1}', '{"g": {"x":1} , "a": 1}'],
    ['{g: [a: 1]}', '{g: {"x":1}}'],
    ['!!map {a: 1}', '!!map {"g": {"x":1}, a: 1}'],
    ['--- {a: 1} # one\n', '--- {"g": {"x":1}, a: 1} # one\n'],
  ])('in braces: %j', (text, after) => {
    expect(withG(text)).toBe(after)
  })

  test.each([
    ['a: 1\nb: 2\n', 'a: 1\ng:\n  x: 1\n\nb: 2\n'],
    ['b: 2\n', 'g:\n  x: 1\n\nb: 2\n'],
    ['# b\nb: 2\n', 'g:\n  x: 1\n\n# b\nb: 2\n'],
    ['a: 1\n# a\n\n# b\n# c\nb: 2\n', 'a: 1\n# a\n\ng:\n  x: 1\n\n# b\n# c\nb: 2\n'],
    ['  a: 1\n  # b\n  b: 2\n', '  a: 1\n  g:\n    x: 1\n\n  # b\n  b: 2\n'],
    ['a: 1\n', 'a: 1\ng:\n  x: 1\n'],
    ['g: 0\nb: 2\n', 'g:\n  x: 1\nb: 2\n'],
  ])('before another key: %j', (text, after) => {
    expect(withG(text, 'b')).toBe(after)
    expect(withG(text.replaceAll('\n', '\r'), 'b')).toBe(after.replaceAll('\n', '\r'))
  })

  test('in a value inside, and in one that is about to be', () => {
    const set = (text: string) => setYamlValue(text, ['o', 'p', 'q'], 1)
    expect(set('o:\n  p:\n    a: 1 # one\nz: 1\n')).toEqual({
      ok: true,
      text: 'o:\n  p:\n    a: 1 # one\n    q:\n      1\nz: 1\n',
    })
    expect(set('o: { p: { a: 1 } }\n')).toEqual({ ok: true, text: 'o: { p: {"q": 1,  a: 1 } }\n' })
    expect(set('o:\n  a: 1\n')).toEqual({ ok: true, text: 'o:\n  a: 1\n  p:\n    q: 1\n' })
    expect(set('o: 5\n')).toEqual({ ok: false, problem: 'it is no mapping, or its "o" is none' })
    expect(set('o:\n  p: [1]\n')).toMatchObject({ ok: false })
  })

  test('a long text stays on its line, and what is said twice is written twice', () => {
    const same = { a: 1 }
    const long = 'word '.repeat(60).trim()
    const set = (value: Json) => setYamlValue('a: 1\n', ['g'], value)
    expect(set({ x: same, z: same })).toEqual({
      ok: true,
      text: 'a: 1\ng:\n  x:\n    a: 1\n  z:\n    a: 1\n',
    })
    expect(set({ long })).toEqual({ ok: true, text: `a: 1\ng:\n  long: ${long}\n` })
  })

  test.each(['? a\n', '? a\n: x\n'])('or says that there is no place for it: %j', (text) => {
    expect(withG(text)).toBe('its form leaves no place to write to; write the value by hand')
  })
})

/** `---`, the contract, `---`. */
const LINES = [
  ...['---', 'gyoshu:', '  goal_contract:', '    version: 1', '    goal_text: g', '    max_goal_attempts: 3'],
  ...['    acceptance_criteria:', '      - id: a', '        kind: finding_count', '        minCount: 2', '---'],
]
const MATTER = LINES.join('\n')

describe('writeContract() in front matter', () => {
  test.each([
    ['', `${MATTER}\n`],
    ['# T\n', `${MATTER}\n# T\n`],
    ['\uFEFF# T\n', `\uFEFF${MATTER}\n# T\n`],
    ['---\n---\n', `${MATTER}\n`],
    ['---\ngyoshu:\n---\nend', `${MATTER}\nend`],
    ['---\na: 1\n...\nend', `---\na: 1\n${LINES.slice(1, -1).join('\n')}\n...\nend`],
  ])('%j', (text, after) => {
    expect(writeContract('a.md', text, GIVEN)).toEqual({ ok: true, text: after })
  })

  test.each(['dag.yaml', 'a.md', 'b.md', 'a.ipynb'])('refuses a contract nobody could read again: %s', (name) => {
    const text = { 'dag.yaml': 'a: 1\n', 'b.md': '---\na: 1\n---\n', 'a.ipynb': notebook([]) }[name] ?? '# T\n'
    expect(writeContract(name, text, HUGE)).toEqual({ ok: false, problem: expect.any(String) })
  })
})

function notebook(cells: readonly object[], indent?: number): string {
  return JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, indent)
}
const raw = (source: unknown, more: object = {}) => ({ cell_type: 'raw', ...more, metadata: {}, source })
const withoutFinalBreak = LINES.map((line, at) => (at === LINES.length - 1 ? line : `${line}\n`))
const ADDED = raw(withoutFinalBreak, { id: 'goal-contract' })

describe('writeContract() in a notebook', () => {
  const written = (text: string, given = GIVEN) => {
    const edited = writeContract('a.ipynb', text, given)
    return edited.ok ? edited.text : edited.problem
  }

  test.each([undefined, 1])('adds a cell as the others are written, with an indent of %s', (indent) => {
    const cell = { cell_type: 'code', metadata: {}, source: '', outputs: [] }
    expect(written(`\n${notebook([cell], indent)}`)).toBe(`\n${notebook([ADDED, cell], indent)}`)
  })

  test('adds the first cell of all on its line', () => {
    expect(written(notebook([], 1))).toBe(notebook([], 1).replace('[]', `[${JSON.stringify(ADDED)}]`))
  })

  test.each([
    ['one text', (lines: readonly string[]) => lines.join('')],
    ['lines', (lines: readonly string[]) => lines],
    ['lines, some of them in one', (lines: readonly string[]) => [lines[0], lines.slice(1, -1).join(''), lines.at(-1)]],
  ])('keeps how a cell is written: %s', (_, form) => {
    const sourceOf = (goal: string) => form(withoutFinalBreak.map((line) => line.replace('text: g', `text: ${goal}`)))
    // What was longer, and the same at both ends, as well as what was shorter.
    for (const [old, now] of [
      ['aaa', 'aa'],
      ['aa', 'aaa'],
      ['x', 'z'],
      ['xzx', 'x'],
      ['same', 'same'],
    ] as const) {
      expect(written(notebook([raw(sourceOf(old))]), { ...GIVEN, goal_text: now })).toBe(notebook([raw(sourceOf(now))]))
    }
  })

  test('writes a line that becomes several as lines', () => {
    const old = ['---\n', 'gyoshu:\n', '  goal_contract: old\n', '---']
    expect(written(notebook([raw(old)]))).toBe(notebook([raw(withoutFinalBreak)]))
  })

  test('keeps the escapes of a text around what it changes', () => {
    const before = notebook([raw(`---\né: 1/2\n${LINES.slice(1).join('\n')}\né/é\n`)])
    const escaped = (text: string) => text.replaceAll('é', '\\u00e9').replaceAll('/', '\\/')
    const after = before.replace('text: g', 'text: h')
    expect(written(escaped(before), { ...GIVEN, goal_text: 'h' })).toBe(escaped(after))
  })

  test('refuses a cell whose front matter is no place for it', () => {
    expect(written(notebook([raw('---\ngyoshu: 5\n---\n')]))).toBe('it is no mapping, or its "gyoshu" is none')
    expect(written('{')).toMatch(/^it is no JSON: Expected .* JSON/)
  })
})

describe('contractSource()', () => {
  test.each([
    ['a.yaml', 'anything: 1\n', 'anything: 1\n'],
    ['a.md', '# T', undefined],
    ['a.md', '---\n# words\n---\n', undefined],
    ['a.md', '---\ngyoshu: { status: y }\n---\n', undefined],
    ['a.md', '---\ngyoshu:\n---\n', undefined],
    // Its errors are told by whoever reads it.
    ['a.md', '---\na: [1\n---\n', '\na: [1\n'],
    [
      'a.md',
      '---\ngyoshu: { goal_contract: {}, goal_contracts: 1 }\n---\n',
      '\ngyoshu: { goal_contract: {}, goal_contracts: 1 }\n',
    ],
    ['a.ipynb', notebook([]), undefined],
    ['a.ipynb', notebook([raw(MATTER)]), `\n${LINES.slice(1, -1).join('\n')}\n`],
  ])('%s %j', (name, text, contract) => {
    expect(contractSource(name, text)).toEqual({ ok: true, contract })
  })

  test('knows files by the ends of their names', () => {
    const names = ['a.ipynb', 'A.IPYNB', 'a.md', 'a.Markdown', 'a.qmd', 'a.Rmd', 'a.yaml', 'a.json', 'md', 'a.md.txt']
    expect(names.map(kindOfFile)).toEqual([
      ...['notebook', 'notebook', 'markdown', 'markdown', 'markdown', 'markdown', 'yaml', 'yaml', 'yaml', 'yaml'],
    ])
  })
})
