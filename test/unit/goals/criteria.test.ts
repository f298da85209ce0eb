import { describe, expect, test } from 'vitest'
import { CRITERION_KINDS, criterionKind } from '../../../shared/goals/criteria/registry.ts'
import { readEvidence } from '../../../shared/goals/evidence.ts'
import { wildcardMatcher } from '../../../shared/goals/glob.ts'
import { judgeGoal } from '../../../shared/goals/goal-gate.ts'
import { metricValue } from '../../../shared/goals/marker.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'
import { ACCURACY, contractOf } from './evaluated.ts'

/** The result of one criterion over a text and paths. */
function judged(criterion: object, output: string, files: readonly string[] = []) {
  const evidence = readEvidence(
    [{ text: output }],
    files.map((name) => ({ name })),
  )
  const [result] = judgeGoal(readGoalContract(contractOf(criterion)), evidence).criteriaResults
  return result
}

describe('metricValue()', () => {
  test.each<[string, number]>([
    ['0.91', 0.91],
    ['  0.91 (mean of 5 folds)', 0.91],
    ['= 0.91', 0.91],
    ['=0.91', 0.91],
    ['-3', -3],
    ['+3.5', 3.5],
    ['.5', 0.5],
    ['-.5', -0.5],
    ['1e3', 1000],
    ['1E-3', 0.001],
    ['+1.5e+2 x', 150],
    ['007', 7],
    ['0.91\tmean', 0.91],
    ['1e-400', 0],
  ])('%j is %d', (content, value) => {
    expect(metricValue(content)).toEqual({ ok: true, value })
  })

  test.each<[string, string]>([
    ['85%', '85%'],
    ['85 %'.replace(' ', ''), '85%'],
    ['1,234', '1,234'],
    ['NaN', 'NaN'],
    ['nan', 'nan'],
    ['inf', 'inf'],
    ['Infinity', 'Infinity'],
    ['-Infinity', '-Infinity'],
    ['1e400', '1e400'],
    ['-1e400', '-1e400'],
    ['', ''],
    ['=', ''],
    ['==0.9', '=0.9'],
    ['accuracy 0.9', 'accuracy'],
    ['~0.9', '~0.9'],
    ['0.9.', '0.9.'],
    ['5.', '5.'],
    ['.', '.'],
    ['0.9;', '0.9;'],
    ['0x10', '0x10'],
    ['1_000', '1_000'],
    ['1e', '1e'],
    ['e5', 'e5'],
    ['--1', '--1'],
    ['- 1', '-'],
    ['\u22121', '\u22121'],
    ['٣', '٣'],
    [`${'9'.repeat(50)}x`, '9'.repeat(40)],
  ])('%j is no number', (content, seen) => {
    expect(metricValue(content)).toEqual({ ok: false, seen })
  })
})

describe('metric_threshold', () => {
  const metric = (op: string, target: number, tolerance?: number) => ({
    ...ACCURACY,
    op,
    target,
    ...(tolerance !== undefined && { tolerance }),
  })

  test.each([
    ['>=', 0.9, 0.9, 'MET'],
    ['>=', 0.9, 0.8999, 'NOT_MET'],
    ['>', 0.9, 0.9001, 'MET'],
    ['>', 0.9, 0.9, 'NOT_MET'],
    ['<=', 0.9, 0.9, 'MET'],
    ['<=', 0.9, 0.9001, 'NOT_MET'],
    ['<', 0.9, 0.8999, 'MET'],
    ['<', 0.9, 0.9, 'NOT_MET'],
    ['==', 0.9, 0.9, 'MET'],
    ['==', 0.9, 0.8999, 'NOT_MET'],
    ['==', 0.9, 0.9001, 'NOT_MET'],
    ['!=', 0.9, 0.8999, 'MET'],
    ['!=', 0.9, 0.9, 'NOT_MET'],
  ])('%s %d with %d is %s', (op, target, actual, status) => {
    expect(judged(metric(op, target), `[METRIC:accuracy] ${actual}`)?.status).toBe(status)
  })

  test.each([
    ['>=', 8, 'MET'],
    ['>=', 7, 'NOT_MET'],
    ['>', 9, 'MET'],
    ['>', 8, 'NOT_MET'],
    ['<=', 12, 'MET'],
    ['<=', 13, 'NOT_MET'],
    ['<', 11, 'MET'],
    ['<', 12, 'NOT_MET'],
    ['==', 8, 'MET'],
    ['==', 12, 'MET'],
    ['==', 13, 'NOT_MET'],
    ['!=', 12, 'NOT_MET'],
    ['!=', 8, 'NOT_MET'],
    ['!=', 13, 'MET'],
    ['!=', 7, 'MET'],
  ])('%s 10 with tolerance 2 and %d is %s', (op, actual, status) => {
    expect(judged(metric(op, 10, 2), `[METRIC:accuracy] ${actual}`)?.status).toBe(status)
  })

  test('says what it saw, what was wanted and where', () => {
    expect(judged(metric('>=', 0.9, 0.01), 'x\n[METRIC:accuracy] 0.91')).toEqual({
      criterion: { id: 'AC1', ...ACCURACY, tolerance: 0.01 },
      status: 'MET',
      actualValue: 0.91,
      target: 0.9,
      message: 'accuracy is 0.91, as wanted: >= 0.9 (tolerance 0.01)',
      source: { line: 2 },
    })
    expect(judged(metric('>=', 0.9), '[METRIC:accuracy] 0.8')).toMatchObject({
      message: 'accuracy is 0.8, wanted: >= 0.9',
      criterion: { tolerance: 0 },
    })
  })

  test('a metric nobody printed is not met', () => {
    const result = judged(ACCURACY, '[METRIC:accuracy_mean] 1\n[STAT:accuracy] 1\n[METRIC] 1')
    expect(result).toMatchObject({ status: 'NOT_MET', message: 'there is no [METRIC:accuracy] line in the evidence' })
    expect(result).not.toHaveProperty('actualValue')
    expect(result?.suggestion).toBe('Measure accuracy and print a line "[METRIC:accuracy] <number>"')
  })

  test('the last line counts, a worse or unreadable one too', () => {
    expect(judged(ACCURACY, '[METRIC:accuracy] 0.95\n[METRIC:accuracy] 0.5')).toMatchObject({
      status: 'NOT_MET',
      actualValue: 0.5,
      source: { line: 2 },
    })
    const unreadable = judged(ACCURACY, '[METRIC:accuracy] 0.95\n[METRIC:accuracy] 95%')
    expect(unreadable).toMatchObject({
      status: 'NOT_MET',
      actualValue: '95%',
      message: 'accuracy is "95%", which is not a number',
      suggestion: 'Print accuracy as a plain number, 0.85 and not 85 % or 1,234',
    })
    expect(judged(ACCURACY, '[METRIC:accuracy] 0.95\n[METRIC:accuracy]')?.message).toBe('accuracy has no value')
  })

  test('the name is literal: no pattern, no part, case counts; dashes are underscores and attributes do not matter', () => {
    expect(judged({ ...ACCURACY, metric: 'acc*' }, '[METRIC:accuracy] 1')?.status).toBe('NOT_MET')
    expect(judged({ ...ACCURACY, metric: 'a.curacy' }, '[METRIC:accuracy] 1')?.status).toBe('NOT_MET')
    expect(judged({ ...ACCURACY, metric: 'Accuracy' }, '[METRIC:accuracy] 1')?.status).toBe('NOT_MET')
    expect(judged({ ...ACCURACY, metric: 'cv-acc_x' }, '[METRIC:cv_acc-x:folds=5] 1')?.status).toBe('MET')
  })

  test('names the block, attempt and seq that supplied it', () => {
    const evidence = readEvidence([
      { text: '[METRIC:accuracy] 0.95', block: 'train', attempt: 2, seq: 5 },
      { text: '\n[METRIC:accuracy] 0.91', block: 'retrain', attempt: 1, seq: 8 },
    ])
    const [result] = judgeGoal(readGoalContract(contractOf(ACCURACY)), evidence).criteriaResults
    expect(result?.source).toEqual({ line: 2, block: 'retrain', attempt: 1, seq: 8 })
  })
})

describe('the suggestion for a metric', () => {
  const suggestion = (target: number, actual: string, op = '>=') =>
    judged({ ...ACCURACY, target, op }, `[METRIC:accuracy] ${actual}`)?.suggestion

  test('has the gap with its sign and percent', () => {
    expect(suggestion(0.9, '0.75')).toBe(
      'Change the approach so that accuracy is >= 0.9: now 0.75 (gap -0.15, -16.7 % of the target)',
    )
    expect(suggestion(0.4, '0.5', '<=')).toContain('is <= 0.4: now 0.5 (gap +0.1, +25 % of the target)')
    expect(suggestion(-2, '-3')).toContain('(gap -1, -50 % of the target)')
  })

  test('is short where the gap is not', () => {
    expect(suggestion(1, '0.3333333333')).toContain('(gap -0.666667, -66.7 % of the target)')
    expect(suggestion(0.9, '0.9', '>')).toContain('(gap 0, 0 % of the target)')
  })

  test('is never about infinity', () => {
    expect(suggestion(0, '-1')).toBe('Change the approach so that accuracy is >= 0: now -1 (gap -1)')
    expect(suggestion(1e308, '-1e308')).toBe('Change the approach so that accuracy is >= 1e+308: now -1e+308')
    expect(suggestion(5e-324, '-1e300')).toContain('now -1e+300 (gap -1e+300)')
  })
})

describe('marker_required', () => {
  const required = (marker: string) => ({ kind: 'marker_required', marker })

  test.each([
    ['FINDING', '[FINDING] x', 'FINDING'],
    ['METRIC', '[METRIC:a] 1', 'METRIC:a'],
    ['METRIC:baseline_*', '[METRIC:baseline_accuracy] 1', 'METRIC:baseline_accuracy'],
    ['METRIC:baseline_*', '[METRIC:baseline_] 1', 'METRIC:baseline_'],
    ['METRIC:baseline-*', '[METRIC:baseline_x] 1', 'METRIC:baseline_x'],
    ['METRIC:*', '[METRIC:a] 1', 'METRIC:a'],
    ['METRIC:a*b*c', '[METRIC:a1b2c] 1', 'METRIC:a1b2c'],
    ['NEXT-STEP', '[NEXT_STEP] x', 'NEXT_STEP'],
    ['A', '[A] x', 'A'],
    ['METRIC:a+b?', '[METRIC:a+b?] 1', 'METRIC:a+b?'],
    ['CITATION:doi:10.*', '[CITATION:doi:10.1/x-y] z', 'CITATION:doi:10.1/x-y'],
    ['CITATION:a-b', '[CITATION:a-b] z', 'CITATION:a-b'],
  ])('%s is met by %s', (marker, output, key) => {
    expect(judged(required(marker), `first\n${output}`)).toMatchObject({
      status: 'MET',
      actualValue: key,
      target: marker,
      message: `[${key}] is there`,
      source: { line: 2 },
    })
  })

  test.each([
    ['FINDING', '[FINDINGS] x'],
    ['METRIC:baseline_*', '[METRIC:xbaseline_a] 1'],
    ['METRIC:baseline', '[METRIC:baseline_a] 1'],
    ['METRIC:*', '[METRIC] 1'],
    ['METRIC:a*c', '[METRIC:a1d] 1'],
    ['METRIC:a.c', '[METRIC:abc] 1'],
    ['METRIC:A', '[METRIC:a] 1'],
    ['METRIC:a+b', '[METRIC:aab] 1'],
    ['METRIC:ab?', '[METRIC:a] 1'],
    ['METRIC:a', '[STAT:a] 1'],
    ['METRIC:a', 'see [METRIC:a] 1'],
  ])('%s is not met by %s', (marker, output) => {
    const result = judged(required(marker), output)
    expect(result).toMatchObject({ status: 'NOT_MET', message: `there is no [${marker}] line in the evidence` })
    expect(result?.suggestion).toBe(`Print a line "[${marker}] ..." where the work supports it`)
  })
})

test.each([
  ['a*b', 'a\nb', true],
  ['a*', 'a', true],
  ['*', '', true],
  ['a.b', 'axb', false],
  ['a*b', 'ab!', false],
  ['(a|b)[c]{1}$^+?\\', '(a|b)[c]{1}$^+?\\', true],
])('wildcardMatcher() of %j and %j is %s', (pattern, text, fits) => {
  expect(wildcardMatcher(pattern)(text)).toBe(fits)
})

test('of several markers that fit the first is told', () => {
  const result = judged({ kind: 'marker_required', marker: 'METRIC:*' }, '[METRIC:a] 1\n[METRIC:b] 1')
  expect(result).toMatchObject({ actualValue: 'METRIC:a', source: { line: 1 } })
})

describe('artifact_exists', () => {
  const criterion = { kind: 'artifact_exists', artifactPattern: '**/*.pkl' }

  test('is met by the first artifact that fits, and tells what is stored', () => {
    const evidence = readEvidence(
      [],
      [{ name: 'a.txt' }, { name: 'm/b.pkl', bytes: 0, sha256: 'ab', block: 'train', seq: 3 }],
    )
    const [result] = judgeGoal(readGoalContract(contractOf(criterion)), evidence).criteriaResults
    expect(result).toMatchObject({
      status: 'MET',
      actualValue: 'm/b.pkl',
      target: '**/*.pkl',
      message: 'm/b.pkl exists',
      source: { block: 'train', seq: 3, bytes: 0, sha256: 'ab' },
    })
  })

  test('of several the first is told', () => {
    expect(judged(criterion, '', ['a.pkl', 'b.pkl'])?.actualValue).toBe('a.pkl')
  })

  test('is not met by an artifact that is only talked about', () => {
    const result = judged(criterion, '[ARTIFACT] model.pkl\nmodel.pkl', ['model.txt'])
    expect(result).toMatchObject({ status: 'NOT_MET', message: 'no artifact fits **/*.pkl' })
    expect(result?.suggestion).toBe('Write an artifact whose path fits **/*.pkl')
  })
})

describe('finding_count', () => {
  const counted = (minCount: number, output: string) => judged({ kind: 'finding_count', minCount }, output)
  const STATS = '[STAT:ci] [1, 2]\n[STAT:effect_size] 0.4\n'

  test('counts verified findings only', () => {
    const result = counted(2, `${STATS}[FINDING] a\n[FINDING] b\n${'\n'.repeat(12)}[FINDING] c`)
    expect(result).toMatchObject({
      status: 'MET',
      actualValue: 2,
      target: 2,
      message: '2 of 3 findings are verified, wanted: at least 2',
      source: { line: 4 },
    })
    expect(counted(3, `${STATS}[FINDING] a`)).toMatchObject({
      status: 'NOT_MET',
      suggestion: 'Verify 2 more: print [STAT:ci] and [STAT:effect_size] in the 10 lines before each [FINDING]',
    })
    expect(counted(1, '')).toMatchObject({ status: 'NOT_MET', actualValue: 0 })
    expect(counted(1, `${STATS}[FINDING] a\n[FINDING] b\n[FINDING] c`)?.source).toEqual({ line: 5 })
    expect(counted(0, '')?.status).toBe('MET')
  })

  test('statistics count in the 10 lines before, not in the 11th, not after', () => {
    const at = (lines: number) => counted(1, `${STATS}${'\n'.repeat(lines)}[FINDING] x`)?.status
    expect([at(0), at(8), at(9), at(10)]).toEqual(['MET', 'MET', 'NOT_MET', 'NOT_MET'])
    expect(counted(1, `[FINDING] x\n${STATS}`)?.status).toBe('NOT_MET')
  })

  test('each of the two must be there and say something', () => {
    expect(counted(1, '[STAT:ci] [1, 2]\n[FINDING] x')?.status).toBe('NOT_MET')
    expect(counted(1, '[STAT:effect_size] 1\n[FINDING] x')?.status).toBe('NOT_MET')
    expect(counted(1, '[STAT:ci]\n[STAT:effect_size] 1\n[FINDING] x')?.status).toBe('NOT_MET')
    expect(counted(1, '[STAT:ci] [1, 2]\n[STAT:effect_size]   \n[FINDING] x')?.status).toBe('NOT_MET')
    expect(counted(1, '[METRIC:ci] [1, 2]\n[METRIC:effect_size] 1\n[FINDING] x')?.status).toBe('NOT_MET')
    expect(counted(1, '[STAT:ci:level=95] [1, 2]\n[STAT:effect-size] 1\n[FINDING:main] x')?.status).toBe('MET')
  })

  test.each([
    ['a text handed on, whole', [`${STATS}[FINDING] a`, `${STATS}[FINDING] a`], 1],
    ['one handed on twice', [`${STATS}[FINDING] a`, `${STATS}[FINDING] a`, `${STATS}[FINDING] a`], 1],
    ['the same again in one text', [`${STATS}[FINDING] a\n${STATS}[FINDING] a`], 2],
    ['other words', [`${STATS}[FINDING] a`, `${STATS}[FINDING] b`], 2],
    ['other statistics', [`${STATS}[FINDING] a`, `${STATS.replace('0.4', '0.5')}[FINDING] a`], 2],
  ])('findings of %s: %j are %i', (_, texts, count) => {
    const contract = readGoalContract(contractOf({ kind: 'finding_count', minCount: 1 }))
    const evidence = readEvidence(texts.map((text) => ({ text })))
    expect(judgeGoal(contract, evidence).criteriaResults[0]?.actualValue).toBe(count)
  })

  test('statistics of another block stand before no finding of this one', () => {
    const texts = [{ text: STATS }, { text: '[FINDING] x' }]
    const contract = readGoalContract(contractOf({ kind: 'finding_count', minCount: 1 }))
    expect(judgeGoal(contract, readEvidence(texts)).overallStatus).toBe('NOT_MET')
    // The lines of the other text would do: 1 and 2 before 4.
    const later = [{ text: STATS }, { text: '\n\n\n[FINDING] x' }]
    expect(judgeGoal(contract, readEvidence(later)).overallStatus).toBe('NOT_MET')
  })
})

describe('the registry', () => {
  test('has the four kinds, each with an example that is a valid criterion', () => {
    expect(CRITERION_KINDS.map(({ kind }) => kind)).toEqual([
      'metric_threshold',
      'marker_required',
      'artifact_exists',
      'finding_count',
    ])
    for (const { kind, example, summary } of CRITERION_KINDS) {
      expect(readGoalContract({ goal_text: kind, acceptance_criteria: [example] })).toMatchObject({ ok: true })
      expect(criterionKind(kind)?.example).toBe(example)
      expect(summary).toMatch(/^[A-Z].*\.$/)
    }
  })

  test('has no kind by another name', () => {
    for (const name of ['constructor', 'METRIC_THRESHOLD', '', undefined, null, 7]) {
      expect(criterionKind(name)).toBeUndefined()
    }
  })
})
