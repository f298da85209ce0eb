import { describe, expect, test } from 'vitest'
import { readBlockers, readClaim } from '../../../shared/goals/decision-table.ts'
import { readEvidence } from '../../../shared/goals/evidence.ts'
import { judgeGoal } from '../../../shared/goals/goal-gate.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'
import { goalSnapshot } from '../../../shared/views/goal.ts'
import { evaluateGoalGate } from './evaluate-goal-gate.ts'
import { ACCURACY, contractOf, evaluated } from './evaluated.ts'

const ONE = contractOf(ACCURACY)
const MET = '[METRIC:accuracy] 0.95'

describe('evaluateCompletion()', () => {
  test.each([
    '',
    ' \n\t',
    '\u200b',
    '\u2800\u2800',
    '\ufeff\u00ad\u2063\u3164\uffa0\u{e0041}',
    '\u0000\u0301\ufe0f',
    '\ud800',
    '{"text":""}',
    '[null]',
    ' {} ',
    '""',
    '{"a": [" ", {"b": "\\u200b"}]}',
  ])('an output of %j has no quality, whatever the verifier says', (output) => {
    const { completion } = evaluated({ output, trust: 85 })
    expect(completion).toMatchObject({
      final_status: 'PARTIAL',
      row: 'PASS x NO_CONTRACT',
      action: 'fix_quality',
      quality: { passed: false, score: 0, violations: [{ code: 'NO_EVIDENCE', penalty: 100 }] },
    })
    expect(completion.warnings.map(({ code }) => code)).toEqual(['QUALITY_NOT_PASSED'])
  })

  test('a file with a byte in it, or a value that is no text, is something', () => {
    const ofFile = (file: object) =>
      evaluated({ output: '', artifacts: [{ name: 'a.txt', ...file }] }).completion.final_status
    expect([ofFile({ bytes: 1 }), ofFile({ bytes: 0 }), ofFile({})]).toEqual(['SUCCESS', 'PARTIAL', 'PARTIAL'])
    expect(evaluated({ output: '', other_outputs: 1 }).completion.final_status).toBe('SUCCESS')
    for (const output of ['.', '0', '⠁', '\u200bx', '{', '[1]', '{"done": false}', '"x"', '😀'])
      expect([output, evaluated({ output }).completion.final_status]).toEqual([output, 'SUCCESS'])
  })

  test('a file of unknown size is something where a criterion asks for it, one without a byte is not', () => {
    const contract = contractOf({ kind: 'artifact_exists', artifactPattern: '*.txt' })
    const ofFile = (file: object) =>
      evaluated({ contract, output: '', artifacts: [{ name: 'a.txt', ...file }] }).completion
    expect(ofFile({})).toMatchObject({ final_status: 'SUCCESS', goal_status: 'MET' })
    expect(ofFile({ bytes: 0 })).toMatchObject({ final_status: 'PARTIAL', goal_status: 'MET', action: 'fix_quality' })
  })

  test('statistics of characters nobody sees are none', () => {
    const output = '[STAT:ci] \u200b\n[STAT:effect_size] 1\n[FINDING] so'
    expect(evaluated({ output }).completion.quality.violations).toMatchObject([{ code: 'FINDING_NO_CI' }])
  })

  test('has exactly the members of an answer', () => {
    const { completion } = evaluated({ contract: ONE, output: MET })
    expect(completion).toEqual({
      goal_status: 'MET',
      met_count: 1,
      total_count: 1,
      trust_passed: true,
      quality: { passed: true, score: 100, violations: [] },
      final_status: 'SUCCESS',
      row: 'PASS x MET',
      action: 'accept',
      warnings: [],
      criteria: [
        {
          id: 'AC1',
          status: 'MET',
          actual: 0.95,
          target: 0.9,
          message: 'accuracy is 0.95, as wanted: >= 0.9',
          source: { line: 1 },
        },
      ],
      pivot: { shouldPivot: false, attemptNumber: 1, maxAttempts: 3, suggestions: [], unachievable: [] },
    })
  })

  test('what there is not is null', () => {
    const { completion } = evaluated({ contract: contractOf(ACCURACY, { kind: 'x', id: 7 }) })
    expect(completion.criteria).toEqual([
      { id: 'AC1', status: 'NOT_MET', actual: null, target: 0.9, message: expect.any(String), source: null },
      { id: null, status: 'UNKNOWN', actual: null, target: null, message: expect.any(String), source: null },
    ])
    expect(evaluated({ contract: { acceptance_criteria: [null] } }).completion.criteria[0]?.id).toBeNull()
  })

  test('zero and a text of nothing are something', () => {
    const contract = contractOf({ ...ACCURACY, target: 0 }, { ...ACCURACY, metric: 'empty' })
    const { criteria } = evaluated({ contract, output: '[METRIC:accuracy] 0\n[METRIC:empty]' }).completion
    expect(criteria).toMatchObject([
      { status: 'MET', actual: 0, target: 0 },
      { status: 'NOT_MET', actual: '', target: 0.9 },
    ])
  })

  test('all gates are judged, whatever the first of them said', () => {
    const output = '[METRIC:accuracy] 0.1\n[FINDING] x'
    const { completion } = evaluated({ contract: ONE, output, trust: 12, quality: 'ml' })
    expect(completion).toMatchObject({
      row: 'FAIL x NOT_MET',
      trust_passed: false,
      quality: { passed: false, score: 0 },
      met_count: 0,
    })
    expect(completion.warnings).toEqual([
      { code: 'GOAL_NOT_MET', message: 'Goal criteria not met: 0/1 criteria passed', severity: 'warning' },
      {
        code: 'TRUST_NOT_VERIFIED',
        message: 'Trust gate failed: the trust score is 12 (REJECTED), 80 is needed',
        severity: 'warning',
      },
      { code: 'QUALITY_NOT_PASSED', message: 'Quality gates failed: 5 violations, score 0', severity: 'warning' },
    ])
  })

  test('one violation is one', () => {
    const { completion } = evaluated({ contract: ONE, output: `${MET}\n[STAT:ci] 1\n[FINDING] x` })
    expect(completion).toMatchObject({ final_status: 'PARTIAL', action: 'fix_quality', row: 'PASS x MET' })
    expect(completion.warnings.map(({ message }) => message)).toEqual(['Quality gates failed: 1 violation, score 70'])
  })

  test('no verifier is a trust FAIL, said in words', () => {
    const { completion } = evaluated({ contract: ONE, output: MET, trust_scores: [] })
    expect(completion).toMatchObject({ row: 'FAIL x MET', final_status: 'PARTIAL', action: 'rework_trust' })
    expect(completion.warnings[0]?.message).toBe('Trust gate failed: no verifier gave a trust score')
  })

  test('a blocker blocks the goal, met or not', () => {
    const { completion } = evaluated({ contract: ONE, output: MET, blockers: ['the data is gone', 'so is the key'] })
    expect(completion).toMatchObject({ goal_status: 'BLOCKED', final_status: 'BLOCKED', met_count: 1 })
    expect(completion.warnings.map(({ message }) => message)).toEqual([
      'Goal criteria not met: 1/1 criteria passed',
      'The goal is blocked: the data is gone',
      'The goal is blocked: so is the key',
    ])
    expect(evaluated({ contract: ONE, output: MET, blockers: [] }).completion.final_status).toBe('SUCCESS')
  })

  test('without a contract there is nothing to block, which is told', () => {
    const { completion } = evaluated({ blockers: ['a', 'b'] })
    expect(completion).toMatchObject({ goal_status: 'NO_CONTRACT', final_status: 'SUCCESS' })
    expect(completion.warnings).toEqual([
      {
        code: 'BLOCKERS_WITHOUT_CONTRACT',
        message: 'There is no goal contract to block: a; b',
        severity: 'warning',
      },
    ])
    expect(evaluated({ blockers: 'a' }).completion.warnings).toHaveLength(1)
  })

  test('a malformed contract is judged as far as it goes, and told whole', () => {
    const contract = { ...contractOf(ACCURACY, { kind: 'finding_count', minCount: 1.5 }) }
    const { completion } = evaluated({ contract, output: MET })
    expect(completion).toMatchObject({ goal_status: 'NOT_MET', final_status: 'PARTIAL', met_count: 1, total_count: 2 })
    expect(completion.criteria.map(({ status }) => status)).toEqual(['MET', 'UNKNOWN'])
    expect(completion.warnings).toEqual([
      expect.objectContaining({ code: 'GOAL_NOT_MET' }),
      {
        code: 'GOAL_CONTRACT_INVALID',
        message: 'Cannot use the goal contract: minCount of criterion "AC2" must be a whole number, got 1.5.',
        severity: 'error',
      },
    ])
  })

  test('a claim nobody knows is PARTIAL, and told', () => {
    const { completion } = evaluated({ contract: ONE, output: MET, claimed_status: 'success' })
    expect(completion).toMatchObject({ final_status: 'PARTIAL', action: 'none' })
    expect(completion.warnings).toEqual([
      {
        code: 'CLAIM_UNKNOWN',
        message: 'The claimed status is none; it counts as PARTIAL',
        severity: 'warning',
      },
    ])
  })

  test('a gate that crashes has failed: PARTIAL at best, with a warning', () => {
    // What no caller may give: nothing of it is text.
    const texts = [{ text: 7 as unknown as string }]
    const { completion, goal } = evaluated({ contract: ONE, texts })
    expect(goal).toMatchObject({ passed: false, criteriaResults: [], maxAttempts: 1 })
    expect(completion).toMatchObject({
      final_status: 'PARTIAL',
      goal_status: 'NOT_MET',
      met_count: 0,
      total_count: 0,
      quality: { passed: false, score: 0 },
      pivot: { shouldPivot: false, attemptNumber: 1, maxAttempts: 1, suggestions: [], unachievable: [] },
    })
    expect(completion.warnings.map(({ code }) => code)).toEqual([
      'GOAL_NOT_MET',
      'QUALITY_NOT_PASSED',
      'GATE_CRASHED',
      'GATE_CRASHED',
    ])
    expect(completion.warnings.filter(({ code }) => code === 'GATE_CRASHED')).toEqual([
      {
        code: 'GATE_CRASHED',
        message: expect.stringMatching(/^The goal gate crashed and counts as failed: (?!TypeError).*split/),
        severity: 'error',
      },
      expect.objectContaining({ message: expect.stringMatching(/^The quality gate crashed/) }),
    ])
    expect(evaluated({ contract: ONE, texts, claimed_status: 'FAILED' }).completion.final_status).toBe('FAILED')
  })

  test('a trust gate that crashes has failed', () => {
    const { completion, trust } = evaluated({ contract: ONE, output: MET, trust_scores: null as unknown as [] })
    expect(completion).toMatchObject({ final_status: 'PARTIAL', row: 'FAIL x MET', trust_passed: false })
    expect(completion.warnings.map(({ code }) => code)).toEqual(['TRUST_NOT_VERIFIED', 'GATE_CRASHED'])
    expect(trust).toMatchObject({ score: null, band: null })
    expect(completion.warnings.map(({ message }) => message)).toEqual([
      'Trust gate failed: the trust gate crashed',
      expect.stringMatching(/^The trust gate crashed and counts as failed: [A-Z]/),
    ])
  })

  test('the same request gives the same bytes', () => {
    const request = {
      contract: contractOf(ACCURACY, { kind: 'artifact_exists', artifactPattern: '*.pkl' }),
      output: `${MET}\n[FINDING] x`,
      files: ['a.pkl'],
      prior_attempts: [{ fingerprint: 'a', unmet: ['AC1'] }],
    }
    const before = JSON.stringify(request)
    expect(JSON.stringify(evaluated(request))).toBe(JSON.stringify(evaluated(JSON.parse(before))))
    expect(JSON.stringify(request)).toBe(before)
  })
})

test('judgeGoal() is BLOCKED by a blocker, before any history', () => {
  const judged = judgeGoal(readGoalContract(ONE), readEvidence([{ text: MET }]), ['no data'])
  expect(judged).toMatchObject({ passed: false, overallStatus: 'BLOCKED', metCount: 1, blockers: ['no data'] })
})

test('judgeGoal() knows nothing of a kind that is none', () => {
  const contract = { version: 1, goal_text: 'x', max_goal_attempts: 3 } as const
  const criterion = { id: 'AC1', kind: 'magic' }
  const judged = judgeGoal({ ok: true, contract: { ...contract, acceptance_criteria: [criterion] } }, readEvidence([]))
  expect(judged).toMatchObject({ passed: false, overallStatus: 'NOT_MET', metCount: 0 })
  expect(judged.criteriaResults).toEqual([{ criterion, status: 'UNKNOWN', message: 'there is no kind "magic"' }])
})

describe('evaluateGoalGate()', () => {
  test('answers the names and shapes of the plan', () => {
    expect(evaluateGoalGate(ONE, MET, [])).toMatchObject({
      passed: true,
      overallStatus: 'MET',
      criteriaResults: [{ criterion: ONE.acceptance_criteria[0], status: 'MET', actualValue: 0.95 }],
      metCount: 1,
      totalCount: 1,
      maxAttempts: 3,
    })
    const pickled = contractOf({ kind: 'artifact_exists', artifactPattern: '*.pkl' })
    expect(evaluateGoalGate(pickled, '', ['m.pkl']).passed).toBe(true)
    expect(evaluateGoalGate(pickled, '', []).passed).toBe(false)
  })

  test('only undefined is no contract', () => {
    const none = { passed: true, overallStatus: 'NO_CONTRACT', criteriaResults: [], metCount: 0, totalCount: 0 }
    expect(evaluateGoalGate(undefined, '', [])).toEqual({ ...none, maxAttempts: 3 })
    for (const contract of [null, {}, '', [], 0, false, { acceptance_criteria: [] }]) {
      expect(evaluateGoalGate(contract, MET, [])).toMatchObject({ passed: false, overallStatus: 'NOT_MET' })
    }
  })
})

describe('what blocks say', () => {
  test('a claim is one of five words; nothing is SUCCESS', () => {
    expect(readClaim(undefined)).toEqual({ status: 'SUCCESS', known: true })
    expect(readClaim(null)).toEqual({ status: 'SUCCESS', known: true })
    for (const status of ['SUCCESS', 'PARTIAL', 'BLOCKED', 'FAILED', 'ABORTED']) {
      expect(readClaim(status)).toEqual({ status, known: true })
    }
    for (const claim of ['success', 'DONE', '', 1, true, ['SUCCESS'], {}]) {
      expect(readClaim(claim)).toEqual({ status: 'PARTIAL', known: false })
    }
  })

  test('blockers are a list of texts, and whatever else is said is one', () => {
    expect(readBlockers(undefined)).toEqual([])
    expect(readBlockers(null)).toEqual([])
    expect(readBlockers([])).toEqual([])
    expect(readBlockers(['a', ''])).toEqual(['a', ''])
    expect(readBlockers('a')).toEqual(['a'])
    expect(readBlockers([null, { why: 'x' }])).toEqual(['nothing (null)', 'a mapping'])
    expect(readBlockers(false)).toEqual(['false'])
  })
})

describe('goalSnapshot()', () => {
  test('has the members of the route', () => {
    const evaluation = evaluated({ contract: contractOf(ACCURACY, { kind: 7 }), output: MET, trust: 70 })
    const last = {
      attemptNumber: 1,
      run_id: 'run_1',
      at: 'then',
      status: 'PARTIAL',
      metCount: 0,
      totalCount: 2,
    } as const
    expect(goalSnapshot(evaluation, 'Reach it', last)).toEqual({
      goal_text: 'Reach it',
      criteriaCount: 2,
      metCount: 1,
      attemptNumber: 1,
      maxAttempts: 3,
      criteria: [
        { ...evaluation.completion.criteria[0], kind: 'metric_threshold' },
        { ...evaluation.completion.criteria[1], kind: null },
      ],
      trust: { score: 70, passed: false, band: 'PARTIAL' },
      quality: { score: 100, violations: [] },
      row: 'FAIL x NOT_MET',
      final_status: 'PARTIAL',
      pivot: evaluation.completion.pivot,
      lastGoalAttempt: last,
    })
    expect(goalSnapshot(evaluated({}), null, null)).toMatchObject({ goal_text: null, criteriaCount: 0, criteria: [] })
    expect(
      goalSnapshot(evaluated({ contract: { acceptance_criteria: [null] } }), '', null).criteria[0]?.kind,
    ).toBeNull()
  })
})
