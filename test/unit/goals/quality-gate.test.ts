import { describe, expect, test } from 'vitest'
import { readEvidence } from '../../../shared/goals/evidence.ts'
import { judgeQuality, QUALITY_RULES, type QualityProfile } from '../../../shared/goals/quality-gate.ts'

const judged = (text: string, profile?: QualityProfile) =>
  judgeQuality(readEvidence([{ text, block: 'work' }]), profile)
const codes = (text: string, profile?: QualityProfile) => judged(text, profile).violations.map(({ code }) => code)

const CI = '[STAT:ci] [1, 2]\n'
const EFFECT = '[STAT:effect_size] 0.4\n'
const ML = '[METRIC:baseline_acc] 0.5\n[METRIC:cv_acc] 0.6\n[METRIC:shap] age'

describe('judgeQuality()', () => {
  test('passes with 100 where nothing is wrong', () => {
    expect(judged(`${CI}${EFFECT}[FINDING] x`)).toEqual({ passed: true, score: 100, violations: [] })
    expect(judged('')).toEqual({ passed: true, score: 100, violations: [] })
  })

  test('a finding without interval, without effect size, without both', () => {
    expect(judged(`${EFFECT}[FINDING] x`)).toEqual({
      passed: false,
      score: 70,
      violations: [
        {
          code: 'FINDING_NO_CI',
          penalty: 30,
          message: 'the finding of line 2 has no [STAT:ci] in the 10 lines before it',
          source: { line: 2, block: 'work' },
        },
      ],
    })
    expect(judged(`${CI}[FINDING] x`)).toEqual({
      passed: false,
      score: 70,
      violations: [
        {
          code: 'FINDING_NO_EFFECT_SIZE',
          penalty: 30,
          message: 'the finding of line 2 has no [STAT:effect_size] in the 10 lines before it',
          source: { line: 2, block: 'work' },
        },
      ],
    })
    expect(judged('[FINDING] x')).toMatchObject({ passed: false, score: 40 })
  })

  test('each finding counts, and the score ends at 0', () => {
    expect(judged(`${CI}[FINDING] x\n[FINDING] y`)).toMatchObject({ passed: false, score: 40 })
    expect(judged('[FINDING] x\n[FINDING] y')).toMatchObject({ passed: false, score: 0 })
    expect(judged('[FINDING] x\n[FINDING] y').violations).toHaveLength(4)
  })

  test('the ml profile needs a baseline, a cross-validation and an interpretation', () => {
    expect(codes('', 'ml')).toEqual(['ML_NO_BASELINE', 'ML_NO_CV', 'ML_NO_INTERPRETATION'])
    expect(judged('', 'ml')).toMatchObject({ passed: false, score: 40 })
    expect(judged(ML, 'ml')).toEqual({ passed: true, score: 100, violations: [] })
    expect(judged(ML.replace('baseline', 'xbaseline'), 'ml')).toEqual({
      passed: false,
      score: 80,
      violations: [{ code: 'ML_NO_BASELINE', penalty: 20, message: 'there is no [METRIC:baseline..] line' }],
    })
    expect(judged(ML.replace('cv_', 'xcv_'), 'ml')).toEqual({
      passed: false,
      score: 75,
      violations: [{ code: 'ML_NO_CV', penalty: 25, message: 'there is no [METRIC:cv..] line' }],
    })
    expect(judged(ML.replace('shap', 'shapes'), 'ml')).toEqual({
      passed: false,
      score: 85,
      violations: [
        {
          code: 'ML_NO_INTERPRETATION',
          penalty: 15,
          message:
            'there is no [METRIC:..] line named feature_importance, top_features, shap, permutation_importance, interpretation',
        },
      ],
    })
  })

  test('only metrics count for it, of five names for the interpretation', () => {
    for (const name of ['feature_importance', 'top-features', 'shap', 'permutation_importance', 'interpretation']) {
      expect(codes(ML.replace('shap', name), 'ml')).toEqual([])
    }
    expect(codes(ML.replaceAll('METRIC', 'STAT'), 'ml')).toHaveLength(3)
    expect(codes('[METRIC] baseline cv shap', 'ml')).toHaveLength(3)
    expect(codes('[METRIC:cv] 1\n[METRIC:baseline] 1\n[METRIC:shap]', 'ml')).toEqual([])
  })

  test('the ml profile has the rules for findings too; the standard one has only those', () => {
    expect(codes(`${ML}\n[FINDING] x`, 'ml')).toEqual(['FINDING_NO_CI', 'FINDING_NO_EFFECT_SIZE'])
    expect(codes('[METRIC:accuracy] 0.9', 'standard')).toEqual([])
    expect(codes('[METRIC:accuracy] 0.9')).toEqual([])
  })

  test('every rule has words for the reference', () => {
    for (const { summary } of QUALITY_RULES) expect(summary).toMatch(/^(A|There) .*\.$/)
  })
})
