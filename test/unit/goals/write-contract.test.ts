import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contractSource, writeContract } from '../../../shared/goals/files/contract-file.ts'
import { setYamlValue } from '../../../shared/goals/files/yaml-edit.ts'
import type { GoalContract } from '../../../shared/goals/goal-contract.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'
import { readYaml } from '../../../shared/text/yaml.ts'
import { atMost } from '../../how-much.ts'
import { readText } from '../docs/markdown.ts'

/** Texts YAML writers get wrong: what looks like another type, what ends a comment, breaks lines, or is not printable. */
const word = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
  fc.constantFrom(
    'yes',
    '~',
    'null',
    '1e3',
    '0x10',
    '.5',
    '-',
    '---',
    '...',
    '# x',
    'a: b',
    'a #b',
    "'",
    '"',
    '\\',
    '{',
    '[x',
    '&a',
    '*b',
    '!c',
    '%d',
    '@',
    '`',
    '|',
    '>',
    '? a',
    ' x',
    'x ',
    'a\nb',
    'a\n',
    '\n',
    '\r\n',
    'a\r',
    '\u2028',
    '\u0085',
    '\uFEFFx',
    '$&',
    '2026-11-22',
    '<<',
    '=',
    'gyoshu:',
    '---\nx',
  ),
)
const text = word.filter((one) => one.isWellFormed() && /\S/.test(one))
const number = fc
  .oneof(fc.constantFrom(0, 0.9, -1, 1e-7, 1e21, 0.1, 100, 5e-324), fc.double({ noNaN: true, noDefaultInfinity: true }))
  // JSON has one zero.
  .map((one) => one + 0)
const criterion = fc.oneof(
  fc.record({
    kind: fc.constant('metric_threshold'),
    metric: text,
    op: fc.constantFrom('>=', '==', '!='),
    target: number,
  }),
  fc.record({
    kind: fc.constant('marker_required'),
    marker: fc.constantFrom('METRIC:*', 'FINDING', 'METRIC:baseline_*'),
  }),
  fc.record({
    kind: fc.constant('artifact_exists'),
    artifactPattern: fc.constantFrom('**/*.pkl', '*', '{a,b}', '[!a]', '# x'),
  }),
  fc.record({ kind: fc.constant('finding_count'), minCount: fc.nat(9) }),
)
const contract = fc
  .record(
    {
      goal_text: text,
      goal_type: text,
      max_goal_attempts: fc.integer({ min: 1, max: 9 }),
      acceptance_criteria: fc.array(fc.tuple(criterion, fc.option(text)), { minLength: 1, maxLength: 4 }),
    },
    { requiredKeys: ['goal_text', 'acceptance_criteria'] },
  )
  .map(({ acceptance_criteria, ...head }) => ({
    ...head,
    acceptance_criteria: acceptance_criteria.map(([one, description], at) => ({
      id: `AC${at}`,
      ...one,
      ...(description === null ? {} : { description }),
    })),
  }))
  .filter((one) => readGoalContract(one).ok)
  .map((one): GoalContract => {
    const read = readGoalContract(one)
    if (!read.ok) throw new Error('filtered')
    return read.contract
  })

/** What stands before the contract, the contract or nothing, and what stands behind it: both ends are kept. */
type Pieces = readonly [head: string, old: string, tail: string]
const OLD = '\n  goal_text: old # inside\n  acceptance_criteria:\n    - { id: a, kind: finding_count, minCount: 1 }'

/** With what a careless writer would lose or break. */
const DOCUMENTS: readonly Pieces[] = [
  ['# head\nname: x # one\n\n', '', '# about the blocks\nblocks:\n  - id: a # two\n\n# tail\n'],
  ['name: x\n', '', 'blocks: []'],
  ['goal_contract:', OLD, ' # kept\n\n# about the blocks\nblocks:\n- id: a\n'],
  ['name: x\ngoal_contract:', ' { goal_text: old }', ' # kept\n'],
  ['name: x\ngoal_contract:', ' # inside\n  {\n   goal_text: old }', '\nblocks: 1\n'],
  ['name: x\ngoal_contract:', '', ' # kept\nblocks: 1\n'],
  ['{', '', '"name": "x", "blocks": []}'],
  ['{\n  "name": "x",\n  "goal_contract":', ' {"goal_text": ["old", {}]}', ',\n  "blocks": []\n}\n'],
  ['{', '', '\n    "name": "x"\n}\n'],
  ['{', '', '}'],
  ['name: |\n  text\n  # no comment', '', '\n'],
  ['', '', 'name: |+\n  text\n\n\n'],
  ['name: |\n  last', '', ''],
  ['name: >-\n  last', '', ''],
  ['"goal_contract" :', ' old', '\nname: "é\\u00e9"\n'],
  ['--- # start\nname: x', '', '\n...\n'],
  ['  name: x\n', '', '  blocks: y\n'],
  ['\uFEFFname: x', '', '\n'],
  ['# nothing but words\n', '', ''],
  ['', '', ''],
]
const MARKDOWN: readonly Pieces[] = [
  [
    '---\ntitle: x # one\ngyoshu:\n  status: y # two\n  goal_contract:',
    OLD.replaceAll('\n', '\n  '),
    '\n# three\n---\n# Text\n\n---\n',
  ],
  ['---\ntitle: x', '', '\n---\n'],
  ['---\n', '', '---\ntext'],
  ['---\n# only words\n', '', '---\ntext'],
  ['', '', '# No front matter\n\n---\nnot: this\n---\n'],
  ['\uFEFF---\ngyoshu: {', '', 'status: x}\n---\nend'],
  ['---\ngyoshu:', '', '\n---\n'],
  ['', '', ''],
]
const eol = fc.constantFrom('\n', '\r\n')

function roundTrip(name: string, before: string, given: GoalContract): string {
  const written = writeContract(name, before, given)
  if (!written.ok) throw new Error(`${written.problem} in ${JSON.stringify(before)}`)
  const source = contractSource(name, written.text)
  const read = source.ok ? readGoalContract(source.contract) : undefined
  expect(read, written.text).toEqual({ ok: true, contract: given })
  return written.text
}

describe('writeContract()', () => {
  test('parse(write(c)) = c, in every form of YAML document, and writing again changes nothing', () => {
    fc.assert(
      fc.property(fc.constantFrom(...DOCUMENTS), eol, contract, (document, end, given) => {
        const before = document.join('').replaceAll('\n', end)
        const after = roundTrip('dag.yaml', before, given)
        expect(roundTrip('dag.yaml', after, given)).toBe(after)
      }),
      { numRuns: atMost(1_000, 200) },
    )
  })

  test('parse(write(c)) = c in front matter', () => {
    fc.assert(
      fc.property(fc.constantFrom(...MARKDOWN), eol, contract, (document, end, given) => {
        const before = document.join('').replaceAll('\n', end)
        const after = roundTrip('report.md', before, given)
        expect(roundTrip('report.md', after, given)).toBe(after)
      }),
      { numRuns: atMost(1_000, 200) },
    )
  })

  test.each([
    ...DOCUMENTS.map((one) => ['dag.yaml', ...one] as const),
    ...MARKDOWN.map((one) => ['report.md', ...one] as const),
  ])('keeps every byte but those of the contract: %s %j [%j] %j', (name, ...pieces) => {
    for (const end of ['\n', '\r\n']) {
      const [head, old, tail] = pieces.map((piece) => piece.replaceAll('\n', end))
      const after = roundTrip(name, `${head}${old}${tail}`, GIVEN)
      expect([after.startsWith(head ?? ''), after.endsWith(tail ?? '')], after).toEqual([true, true])
      expect(after.length).toBeGreaterThan(`${head}${tail}`.length)
      if (/[\r\n]/.test(`${head}${tail}`)) expect(after.replaceAll(end, '')).not.toMatch(/[\r\n]/)
    }
  })

  test('puts it before the blocks of a DAG, with their comments, and leaves the rest as it is', () => {
    expect(roundTrip('dag.yaml', DOCUMENTS[0]?.join('') ?? '', GIVEN)).toBe(
      `# head
name: x # one

goal_contract:
  version: 1
  goal_text: Say why
  max_goal_attempts: 3
  acceptance_criteria:
    - id: AC1
      kind: finding_count
      minCount: 2

# about the blocks
blocks:
  - id: a # two

# tail
`,
    )
    const shipped = readText('dags/churn-analysis.yaml')
    const after = roundTrip('churn-analysis.yaml', shipped, GIVEN)
    const [head = '', tail = ''] = [
      shipped.slice(0, shipped.indexOf('goal_contract:')),
      shipped.slice(shipped.indexOf('\ncompletion:')),
    ]
    expect([after.startsWith(head), after.endsWith(tail)]).toEqual([true, true])
  })

  test.each([
    ['a: [1', 'the YAML cannot be read'],
    ['- a\n', 'it is no mapping'],
    ['just text', 'it is no mapping'],
    ['a: 1\n---\nb: 2\n', 'the text holds more than one YAML document'],
    ['a: *b\n', 'is an alias'],
    ['a: 1\na: 2\n', 'given twice'],
    [`a: "${'x'.repeat(300_000)}"`, 'the limit is 262144'],
  ])('refuses %.20j in words', (document, words) => {
    const written = writeContract('dag.yaml', document, GIVEN)
    expect(written).toEqual({ ok: false, problem: expect.stringContaining(words) })
  })

  test.each([
    ['---\ntitle: x\n', 'never ends'],
    ['---\ngyoshu: 5\n---\n', 'its "gyoshu" is none'],
    ['---\na: [1\n---\n', 'the YAML cannot be read'],
  ])('refuses the front matter of %j in words', (document, words) => {
    expect(writeContract('x.md', document, GIVEN)).toEqual({ ok: false, problem: expect.stringContaining(words) })
  })
})

const GIVEN: GoalContract = {
  version: 1,
  goal_text: 'Say why',
  max_goal_attempts: 3,
  acceptance_criteria: [{ id: 'AC1', kind: 'finding_count', minCount: 2 }],
}

test('setYamlValue() changes one value and no other, wherever it stands', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd e', 'f')
  const leaf = fc.oneof(
    fc.constantFrom(1, true, null, 'x', 'a\nb\n', '', '# y', 'z: z'),
    fc.array(fc.nat(3), { maxLength: 2 }),
  )
  const tree = fc.dictionary(key, fc.oneof(leaf, fc.dictionary(key, leaf, { maxKeys: 3 })), { maxKeys: 4 })
  fc.assert(
    fc.property(
      tree,
      fc.constantFrom('a', 'n'),
      fc.option(fc.constantFrom('b', 'm')),
      leaf,
      (value, first, second, set) => {
        const path: [string, ...string[]] = second === null ? [first] : [first, second]
        const edited = setYamlValue(JSON.stringify(value, null, 1), path, set)
        const inner = second === null ? set : { ...(value[first] as object), [second]: set }
        const blocked = second !== null && (typeof (value[first] ?? {}) !== 'object' || Array.isArray(value[first]))
        if (blocked) {
          expect(edited.ok).toBe(false)
          return
        }
        if (!edited.ok) throw new Error(edited.problem)
        const read = readYaml(edited.text)
        expect(read.ok && read.source.value).toEqual({ ...value, [first]: inner })
      },
    ),
    { numRuns: 500 },
  )
})
