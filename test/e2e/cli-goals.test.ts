import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonLines, sluice } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-goals-'))
const file = (name: string, text: string) => writeFileSync(join(folder, name), text)

const CONTRACT = `goal_contract:
  goal_text: "Build model with >= 90% accuracy"
  acceptance_criteria:
    - { id: AC1, kind: metric_threshold, metric: cv_accuracy_mean, op: ">=", target: 0.90 }
    - { id: AC2, kind: artifact_exists, artifactPattern: "*.pkl" }
`

beforeAll(() => {
  file('goal.yaml', CONTRACT)
  file('good.txt', '[METRIC:cv_accuracy_mean] 0.93\n')
  file('poor.txt', '[METRIC:cv_accuracy_mean] 0.75\r\n')
  file('bad.yaml', CONTRACT.replace('metric_threshold', 'metric_treshold'))
  file('model.pkl', 'x')
})
afterAll(() => rmSync(folder, { recursive: true }))

const goal = (...args: readonly string[]) => sluice(['goal', ...args], { cwd: folder })
const files = ['--contract', 'goal.yaml', '--output', 'good.txt', '--artifacts', 'model.pkl']

/** Lines in, lines out. */
async function lines(command: string, asked: readonly unknown[]) {
  const stdin = asked.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  const { code, out } = await sluice(['goal', command, '--ndjson'], { stdin })
  expect(code).toBe(0)
  return jsonLines(out)
}

describe('sluice goal evaluate', () => {
  test('ends 0 for SUCCESS, and says so', async () => {
    const { code, out } = await goal('evaluate', ...files, '--trust', '90')
    expect([code, out.split('\n')[0]]).toEqual([0, 'SUCCESS  PASS x MET  next: accept'])
    expect(out).toContain('MET      AC2  model.pkl exists')
  })

  test('ends 3 for PARTIAL and BLOCKED, with what the next attempt could do', async () => {
    const poor = await goal('evaluate', ...files.with(3, 'poor.txt'), '--trust', '85')
    expect([poor.code, poor.out.split('\n')[0]]).toEqual([3, 'PARTIAL  PASS x NOT_MET  next: pivot'])
    expect(poor.out).toContain('warning: Goal criteria not met: 1/2 criteria passed [GOAL_NOT_MET]')
    expect(poor.out).toContain('now 0.75 (gap -0.15, -16.7 % of the target)')
    const last = await goal('evaluate', ...files.with(3, 'poor.txt'), '--trust', '85', '--failed-attempts', '2')
    expect([last.code, last.out.split('\n')[0]]).toEqual([3, 'BLOCKED  PASS x BLOCKED  next: none'])
    expect(last.out).toContain('Maximum attempts reached')
  })

  test('ends 1 for a run that failed, and takes the lowest of several scores', async () => {
    const failed = await goal('evaluate', ...files, '--trust', '90', '--claimed', 'FAILED')
    expect([failed.code, failed.out.split(' ')[0]]).toEqual([1, 'FAILED'])
    const doubted = await goal('evaluate', ...files, '--trust', '90', '79.9')
    expect(doubted.out).toContain('trust    FAIL: the trust score is 79.9 (PARTIAL), 80 is needed')
  })

  test('prints JSON with the provenance of files', async () => {
    const { out } = await goal('evaluate', ...files, '--trust', '90', '--json')
    const { criteria, final_status } = JSON.parse(out)
    expect(final_status).toBe('SUCCESS')
    expect(criteria[1].source).toEqual({ bytes: 1, sha256: expect.stringMatching(/^2d711642b726b044/) })
  })

  test('refuses a malformed contract with 100, missing files and wrong options with 2', async () => {
    const bad = await goal('evaluate', '--contract', 'bad.yaml', '--output', 'good.txt')
    expect([bad.code, bad.out]).toEqual([100, ''])
    expect(bad.err).toContain('[goal_contract_invalid]')
    expect(bad.err).toContain('Did you mean "metric_threshold"?')
    const believed = await goal('evaluate', ...files.with(5, 'nowhere.pkl'))
    expect([believed.code, believed.err]).toEqual([2, expect.stringContaining('Only what is there is evidence')])
    for (const args of [
      ['--trust', 'high'],
      ['--claimed', 'DONE'],
      ['--quality', 'best'],
      ['--failed-attempts', '-1'],
    ]) {
      expect((await goal('evaluate', ...files, ...args)).code).toBe(2)
    }
    expect((await goal('evaluate')).code).toBe(2)
    expect((await goal('evaluate', '--ndjson', ...files)).code).toBe(2)
  })
})

describe('sluice goal evaluate --ndjson', () => {
  test('answers each line with its id, in order, whatever it found', async () => {
    const answers = await lines('evaluate', [
      { id: 1, contract: CONTRACT, output: '[METRIC:cv_accuracy_mean] 0.95', artifacts: ['m.pkl'], trust_score: 90 },
      {
        id: 'two',
        contract: CONTRACT,
        output: '',
        artifacts: [],
        trust_score: 85,
        claimed_status: 'SUCCESS',
        prior_attempts: [],
      },
      {
        id: 3,
        contract: null,
        output: null,
        artifacts: null,
        trust_score: 82,
        prior_failed_attempts: null,
        blockers: null,
      },
      { id: 4, contract: { goal_text: 'x', acceptance_criteria: [] }, trust_score: '95', quality: 'ml' },
      { id: 5, contract: CONTRACT, trust_score: 90, prior_failed_attempts: 2 },
      {
        id: 6,
        contract: CONTRACT.replace('goal_text', 'max_goal_attempts: 9\n  goal_text'),
        trust_score: 90,
        prior_attempts: [
          { fingerprint: 'a', unmet: ['AC1'] },
          { fingerprint: 'b', unmet: ['AC1'] },
        ],
      },
      { id: 7, contract: CONTRACT, trust_score: 90, blockers: ['no data'], fingerprint: 'c' },
      { id: 8, quality: 'best' },
      'no json',
    ])
    const short = answers.map((answer) => {
      const { id, row, final_status, action, error } = answer as Record<string, { readonly code?: string }>
      return [id, row, final_status, action, error?.code]
    })
    expect(short).toEqual([
      [1, 'PASS x MET', 'SUCCESS', 'accept', undefined],
      ['two', 'PASS x NOT_MET', 'PARTIAL', 'pivot', undefined],
      [3, 'PASS x NO_CONTRACT', 'PARTIAL', 'fix_quality', undefined],
      [4, 'FAIL x NOT_MET', 'PARTIAL', 'rework_and_pivot', undefined],
      [5, 'PASS x BLOCKED', 'BLOCKED', 'none', undefined],
      [6, 'PASS x BLOCKED', 'BLOCKED', 'none', undefined],
      [7, 'PASS x BLOCKED', 'BLOCKED', 'none', undefined],
      [8, undefined, undefined, undefined, 'malformed_line'],
      [null, undefined, undefined, undefined, 'malformed_line'],
    ])
    expect(Object.keys(answers[0] as object)).toEqual([
      'id',
      'goal_status',
      'met_count',
      'total_count',
      'trust_passed',
      'quality',
      'final_status',
      'row',
      'action',
      'warnings',
      'criteria',
      'pivot',
    ])
    expect(answers[1]).toMatchObject({
      warnings: [
        { code: 'GOAL_NOT_MET', message: 'Goal criteria not met: 0/2 criteria passed', severity: 'warning' },
        { code: 'QUALITY_NOT_PASSED', message: 'Quality gates failed: 1 violation, score 0', severity: 'warning' },
      ],
      pivot: {
        shouldPivot: true,
        attemptNumber: 1,
        maxAttempts: 3,
        suggestions: [expect.any(String), expect.any(String)],
      },
    })
    expect(answers[5]).toMatchObject({ pivot: { unachievable: ['AC1'], attemptNumber: 3 } })
  })
})

describe('sluice goal validate', () => {
  test('checks files, exit code 100 when one has errors', async () => {
    const good = await goal('validate', 'goal.yaml')
    expect([good.code, good.out]).toEqual([0, 'goal.yaml is valid: AC1, AC2\n'])
    const both = await goal('validate', 'goal.yaml', 'bad.yaml')
    expect(both.code).toBe(100)
    expect(both.out).toContain('bad.yaml has 1 error:\n  4:24  unknown_criterion_kind  kind of criterion "AC1" is')
    const json = await goal('validate', '--json', 'goal.yaml', 'bad.yaml')
    expect(JSON.parse(json.out)).toMatchObject([
      { file: 'goal.yaml', valid: true, hash: expect.stringMatching(/^[0-9a-f]{64}$/), errors: [] },
      { file: 'bad.yaml', valid: false, errors: [{ line: 4, path: 'goal_contract.acceptance_criteria[0].kind' }] },
    ])
    expect((await goal('validate')).code).toBe(2)
    expect((await goal('validate', '--ndjson', 'goal.yaml')).code).toBe(2)
  })

  test('--ndjson answers each line', async () => {
    const answers = await lines('validate', [
      { id: 1, contract: CONTRACT },
      { id: 2, contract: { goal_text: ' ', acceptance_criteria: [], versoin: 1 } },
      { id: 3 },
      { id: 4, contract: null },
      { contract: CONTRACT },
    ])
    expect(answers).toMatchObject([
      { id: 1, valid: true, errors: [] },
      { id: 2, valid: false },
      { id: 3, valid: false, errors: [{ code: 'wrong_type', path: '' }] },
      { id: 4, valid: false, errors: [{ code: 'wrong_type', path: '' }] },
      { id: null, valid: false, errors: [{ code: 'malformed_line' }] },
    ])
    const { errors } = answers[1] as { readonly errors: readonly { readonly code: string; readonly path: string }[] }
    expect(errors.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'invalid_value goal_text',
      'invalid_value acceptance_criteria',
      'unknown_key versoin',
    ])
  })
})

describe('sluice goal decide', () => {
  test('--ndjson answers the row, the outcome and what is next', async () => {
    const asked = { trust_score: 80, quality_passed: true, goal_status: 'MET', claimed_status: 'SUCCESS' }
    const answers = await lines('decide', [
      { id: 1, ...asked },
      { id: 2, ...asked, quality_passed: false },
      { id: 3, ...asked, quality_passed: 'yes' },
      { id: 4, ...asked, trust_score: 79.9 },
      { id: 5, ...asked, trust_score: null, goal_status: 'BLOCKED' },
      { id: 6, ...asked, claimed_status: 'ABORTED' },
      { id: 7, trust_score: 99, quality_passed: true, goal_status: 'NOT_MET' },
      { id: 8, ...asked, goal_status: 'met' },
    ])
    expect(answers).toEqual([
      { id: 1, final_status: 'SUCCESS', row: 'PASS x MET', action: 'accept' },
      { id: 2, final_status: 'PARTIAL', row: 'PASS x MET', action: 'fix_quality' },
      { id: 3, final_status: 'PARTIAL', row: 'PASS x MET', action: 'fix_quality' },
      { id: 4, final_status: 'PARTIAL', row: 'FAIL x MET', action: 'rework_trust' },
      { id: 5, final_status: 'BLOCKED', row: 'FAIL x BLOCKED', action: 'none' },
      { id: 6, final_status: 'ABORTED', row: 'PASS x MET', action: 'none' },
      { id: 7, final_status: 'PARTIAL', row: 'PASS x NOT_MET', action: 'pivot' },
      { id: 8, error: expect.objectContaining({ code: 'malformed_line', path: 'goal_status' }) },
    ])
  })

  test('without --ndjson says what it needs', async () => {
    const { code, err } = await goal('decide')
    expect([code, err]).toEqual([2, expect.stringContaining('--ndjson')])
  })
})
