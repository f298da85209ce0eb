import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sluice } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-goal-files-'))
const file = (name: string, text: string | Uint8Array) => writeFileSync(join(folder, name), text)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const goal = (...args: readonly string[]) => sluice(['goal', ...args], { cwd: folder })

const MATTER = `---
title: Churn
gyoshu:
  goal_contract:
    goal_text: Build a model with at least 90 % accuracy
    acceptance_criteria:
      - { id: AC1, kind: metric_threshold, metric: cv_accuracy_mean, op: ">=", target: 0.90 }
      - { id: AC2, kind: artifact_exists, artifactPattern: "models/*.pkl" }
---
`
const notebook = (matter: string, printed: string) =>
  JSON.stringify({
    cells: [
      { cell_type: 'raw', metadata: {}, source: matter.split(/(?<=\n)/) },
      {
        cell_type: 'code',
        metadata: {},
        source: 'train()',
        outputs: [{ output_type: 'stream', name: 'stdout', text: printed }],
      },
    ],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  })

beforeAll(() => {
  mkdirSync(join(folder, 'models/.cache'), { recursive: true })
  file('models/churn.pkl', 'x')
  file('models/.cache/other.pkl', 'x')
  file('good.ipynb', notebook(MATTER, '[METRIC:cv_accuracy_mean] 0.93\n'))
  file('poor.ipynb', notebook(MATTER, '[METRIC:cv_accuracy_mean] 0.75\n'))
  file('none.ipynb', notebook('# Title\n', ''))
  file('bad.ipynb', notebook(MATTER.replace('op:', 'opp:'), ''))
  file('misplaced.ipynb', notebook('---\ngoal_contract: { goal_text: x }\n---\n', ''))
  file('torn.ipynb', '{"cells": [')
  file('report.md', `${MATTER}# Report\n`)
  file('plain.md', '# Title\n')
  file('good.txt', '[METRIC:cv_accuracy_mean] 0.93\n')
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('sluice goal evaluate --notebook', () => {
  test('judges what its cells printed, and what lies beside it', async () => {
    const good = await goal('evaluate', '--notebook', 'good.ipynb', '--trust', '90')
    expect([good.code, good.out.split('\n')[0]]).toEqual([0, 'SUCCESS  PASS x MET  next: accept'])
    expect(good.out).toContain('MET      AC2  models/churn.pkl exists')
    const poor = await goal('evaluate', '--notebook', 'poor.ipynb', '--trust', '90', '--json')
    expect([poor.code, JSON.parse(poor.out).final_status]).toEqual([3, 'PARTIAL'])
    expect(JSON.parse(poor.out).criteria[0]).toMatchObject({ actual: 0.75, source: { block: 'cell 2', line: 1 } })
    expect(JSON.parse(poor.out).criteria[1].source).toEqual({ bytes: 1, sha256: expect.stringMatching(/^2d711642/) })
  })

  test('takes artifacts a person names instead, and a Markdown file with its output', async () => {
    const named = await goal('evaluate', '--notebook', 'good.ipynb', '--trust', '90', '--artifacts', 'good.txt')
    expect([named.code, named.out]).toEqual([3, expect.stringContaining('NOT_MET  AC2')])
    const report = await goal('evaluate', '--notebook', 'report.md', '--output', 'good.txt', '--trust', '90')
    expect([report.code, report.out.split(' ')[0]]).toEqual([0, 'SUCCESS'])
    const contract = await goal('evaluate', '--contract', 'report.md', '--output', 'good.txt', '--trust', '90')
    expect(contract.out).toContain('goal     NOT_MET (1/2)')
  })

  test('has no goal without a contract; without any output it has no quality either, and says so', async () => {
    const { code, out } = await goal('evaluate', '--notebook', 'none.ipynb', '--trust', '90')
    expect([code, out.split('\n')[0]]).toEqual([3, 'PARTIAL  PASS x NO_CONTRACT  next: fix_quality'])
  })

  test('is checked by goal validate as well', async () => {
    const { code, out } = await goal('validate', 'good.ipynb', 'report.md', 'misplaced.ipynb', 'plain.md')
    expect([code, out.trim().split('\n')]).toEqual([
      100,
      [
        'good.ipynb is valid: AC1, AC2',
        'report.md is valid: AC1, AC2',
        'misplaced.ipynb has 1 error:',
        '  -  goal_contract_invalid  its front matter has "goal_contract" at the top; it belongs under "gyoshu".',
        'plain.md has 1 error:',
        '  -  goal_contract_invalid  there is none.',
      ],
    ])
  })

  test.each([
    [['--notebook', 'bad.ipynb'], 100, 'Did you mean "op"?'],
    [['--notebook', 'misplaced.ipynb'], 100, 'it belongs under "gyoshu"'],
    [['--notebook', 'torn.ipynb'], 100, 'it is no JSON'],
    [['--notebook', 'nowhere.ipynb'], 2, 'there is no such file'],
    [['--notebook', 'report.md'], 2, '"report.md" has no cells that print'],
    [['--notebook', 'good.txt'], 2, 'a file .ipynb or .md is needed'],
    [['--notebook', 'good.ipynb', '--output', 'good.txt'], 2, 'Give --notebook or --output'],
    [['--notebook', 'good.ipynb', '--contract', 'report.md'], 2, 'Give --notebook or --contract'],
  ] as const)('%j ends %i', async (args, code, words) => {
    const answer = await goal('evaluate', ...args)
    expect([answer.code, answer.out]).toEqual([code, ''])
    expect(answer.err).toContain(words)
  })
})

describe('sluice goal init', () => {
  const DAG = '# mine\nname: x\n\n# the blocks\nblocks:\n  - { id: a, agent: { provider: local, model: m } } # one\n'

  test('writes a skeleton into a document that is valid then, and changes nothing else', async () => {
    file('dag.yaml', DAG)
    chmodSync(join(folder, 'dag.yaml'), 0o640)
    const { code, out } = await goal('init', 'dag.yaml', '--type', 'report', '--goal-text', 'Say: what # is "new"')
    expect([code, out.trim()]).toEqual([
      0,
      'dag.yaml has a goal contract now: written, sources (>= 5), cited, honest. Change its figures to what is wanted.',
    ])
    const [head = '', tail = ''] = DAG.split('# the blocks')
    expect(read('dag.yaml').startsWith(`${head}goal_contract:\n`)).toBe(true)
    expect(read('dag.yaml').endsWith(`\n\n# the blocks${tail}`)).toBe(true)
    expect(read('dag.yaml')).toContain(`goal_text: 'Say: what # is "new"'`)
    expect(statSync(join(folder, 'dag.yaml')).mode & 0o777).toBe(0o640)
    expect((await sluice(['validate', 'dag.yaml'], { cwd: folder })).code).toBe(0)
    expect((await goal('validate', 'dag.yaml')).out).toContain('dag.yaml is valid: written, sources, cited, honest')
  })

  test('writes over a contract only when told to, also one that stands in another file', async () => {
    const before = read('dag.yaml')
    const again = await goal('init', 'dag.yaml')
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('[goal_contract_there]')])
    expect(read('dag.yaml')).toBe(before)
    expect((await goal('init', 'dag.yaml', '--contract', 'report.md', '--replace')).code).toBe(0)
    expect((await goal('validate', 'dag.yaml')).out).toContain('AC1, AC2')
    expect((await goal('init', 'none.ipynb')).code).toBe(0)
    expect((await goal('evaluate', '--notebook', 'none.ipynb')).out).toContain('goal     NOT_MET (1/4)')
  })

  test('follows a link to what it leads to', async () => {
    file('linked.yaml', DAG)
    symlinkSync(join(folder, 'linked.yaml'), join(folder, 'link.yaml'))
    expect((await goal('init', 'link.yaml')).code).toBe(0)
    expect(read('linked.yaml')).toContain('goal_contract:')
  })

  test.each<[string, string | Uint8Array, readonly string[], number, string]>([
    ['list.yaml', '- a\n', [], 1, 'it is no mapping'],
    ['broken.yaml', 'a: [1\n', [], 1, 'the YAML cannot be read'],
    ['latin.yaml', Uint8Array.of(0x61, 0x3a, 0x20, 0xe9), [], 2, 'it is no UTF-8 text'],
    ['alone.yaml', 'goal_text: x\nacceptance_criteria: []\n', ['--replace'], 1, 'it is a goal contract itself'],
    ['open.md', '---\ntitle: x\n', [], 1, 'never ends'],
    ['torn.ipynb', '{"cells": [', [], 1, 'it is no JSON'],
    ['fine.yaml', 'a: 1\n', ['--goal-text', ' '], 2, 'must not be blank'],
    ['fine.yaml', 'a: 1\n', ['--goal-text', 'Cut latency by 30%'], 2, 'it names "latency"'],
    ['fine.yaml', 'a: 1\n', ['--goal-text', 'Reach three quarters accuracy'], 2, 'no figure that can be read'],
    ['fine.yaml', 'a: 1\n', ['--contract', 'bad.ipynb'], 100, '[goal_contract_invalid]'],
    ['fine.yaml', 'a: 1\n', ['--contract', 'misplaced.ipynb'], 100, 'it belongs under "gyoshu"'],
  ])('leaves %s as it is (%j, %j): %i, in words', async (name, text, options, code, words) => {
    file(name, text)
    const answer = await goal('init', name, ...options)
    expect([answer.code, answer.err]).toEqual([code, expect.stringContaining(words)])
    expect(readFileSync(join(folder, name))).toEqual(Buffer.from(text))
    expect(readdirSync(folder).filter((one) => one.endsWith('.tmp'))).toEqual([])
  })
})
