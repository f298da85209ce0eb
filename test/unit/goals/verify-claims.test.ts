import { describe, expect, test } from 'vitest'
import { verifyClaims } from '../../../shared/goals/verify-claims.ts'
import { expectLinear } from '../gates/linear.ts'
import { ACCURACY, contractOf } from './evaluated.ts'

/** A record in which everything can be checked and holds. */
const SOUND = `[OBJECTIVE] Predict churn
[DATA] 5,000 customers
[HYPOTHESIS] Tenure matters
[EXPERIMENT] 5-fold cross-validation
[METRIC:cv_accuracy_mean] 0.9149
[ARTIFACT] out/model.pkl
[CITATION:survey] "customers leave in the first three months"
[STAT:p_value] 0.003
[STAT:ci] 95% CI [0.89, 0.93]
[STAT:effect_size] Cohen's d = 0.6
[FINDING] The model predicts churn, cv_accuracy_mean = 0.91
[LIMITATION] One country
[CONCLUSION] Call them early`

const SOURCES = [
  { id: 'survey', text: 'We saw that customers leave in the first three months, most of them.' },
  { id: 'other', text: 'Prices do not matter to those who stay.' },
]

function verified(text: string, files: readonly { name: string; sha256?: string }[] = [{ name: 'out/model.pkl' }]) {
  return verifyClaims({ texts: [{ text, block: 'work', attempt: 1 }], artifacts: files, sources: SOURCES })
}

/** Outcome and message of the challenges of one type. */
function asked(type: string, text: string, files?: readonly { name: string; sha256?: string }[]) {
  const { challenges } = verified(text, files)
  return challenges.filter((one) => one.type === type).map(({ outcome, message }) => `${outcome}: ${message}`)
}

const swap = (from: string, to: string) => SOUND.replace(from, to)

describe('verifyClaims()', () => {
  test('a record that holds in every part scores 100', () => {
    const { parts, ...rest } = verified(SOUND)
    expect(parts).toEqual({
      statistical_rigor: 1,
      evidence_quality: 1,
      metric_verification: 1,
      completeness: 1,
      methodology: 1,
    })
    expect(rest).toMatchObject({ trust_score: 100, findings_verified: 1, findings_rejected: 0 })
    expect(rest.challenges.map(({ type, outcome, message }) => `${type} ${outcome}: ${message}`)).toEqual([
      'ci upheld: the interval is 0.89 to 0.93',
      'effect_size upheld: the effect size is 0.6',
      'p_value upheld: the p-value is 0.003',
      'reference upheld: the source "survey" is stored',
      'reference upheld: the quotation "customers leave in the first three months" is found',
      'metric upheld: cv_accuracy_mean is stated as 0.91 and was measured as 0.9149',
      'artifact upheld: the artifact out/model.pkl exists',
    ])
    expect(rest.challenges[0]?.source).toEqual({ line: 9, block: 'work', attempt: 1 })
    expect(rest.challenges[6]?.source).toEqual({})
  })

  test('nothing earns nothing', () => {
    expect(verified('')).toEqual({
      trust_score: 0,
      challenges: [],
      findings_verified: 0,
      findings_rejected: 0,
      parts: { statistical_rigor: 0, evidence_quality: 0, metric_verification: 0, completeness: 0, methodology: 0 },
    })
  })

  test('every finding is challenged at least three times, a bare one too', () => {
    const { challenges, ...rest } = verified('[FINDING] x\n[FINDING] y')
    expect(rest).toMatchObject({ trust_score: 3.75, findings_verified: 0, findings_rejected: 0 })
    expect(challenges.map(({ outcome, message }) => `${outcome}: ${message}`)).toEqual(
      [1, 2].flatMap((line) => [
        `unsupported: the finding of line ${line} has no [STAT:ci]`,
        `unsupported: the finding of line ${line} has no [STAT:effect_size]`,
        `unsupported: the finding of line ${line} quotes nothing and cites nothing`,
        `unsupported: the finding of line ${line} states no metric that was measured`,
        `unsupported: the finding of line ${line} names no artifact`,
      ]),
    )
    expect(challenges[0]?.source).toEqual({ line: 1, block: 'work', attempt: 1 })
  })

  test('a rejected finding costs 30, on top of what its parts lose', () => {
    // One of two artifact and reference answers of three is refuted: 25 less 25/3, and 30.
    const { trust_score, findings_verified, findings_rejected } = verified(SOUND, [])
    expect([trust_score, findings_verified, findings_rejected]).toEqual([61.66, 0, 1])
    const twice = verified(`${SOUND}\n${SOUND}`, [])
    expect(twice).toMatchObject({ trust_score: 31.66, findings_rejected: 2 })
    expect(verified(`${SOUND}\n`.repeat(5), [])).toMatchObject({ trust_score: 0, findings_rejected: 5 })
  })

  test('two decimals, and never rounded up', () => {
    const third = swap('[LIMITATION]', '[INFO]')
    expect(verified(third).trust_score).toBe(96.66)
    expect(verified(third.replace('[EXPERIMENT]', '[INFO]')).trust_score).toBe(93.33)
  })
})

describe('statistics', () => {
  test.each([
    ['[0.89, 0.93]', 'upheld: the interval is 0.89 to 0.93'],
    ['(-0.2; .5)', 'upheld: the interval is -0.2 to 0.5'],
    ['0.89 to 0.93', 'upheld: the interval is 0.89 to 0.93'],
    ['between 1 and 2', 'upheld: the interval is 1 to 2'],
    ['1 - 2', 'upheld: the interval is 1 to 2'],
    ['1–2', 'upheld: the interval is 1 to 2'],
    ['1..2', 'upheld: the interval is 1 to 2'],
    ['[2, 2]', 'upheld: the interval is 2 to 2'],
    ['[0.93, 0.89]', 'refuted: the interval ends before it begins: 0.93 to 0.89'],
    ['wide', 'unsupported: the interval has no two ends that can be read'],
    ['0.9', 'unsupported: the interval has no two ends that can be read'],
  ])('an interval %s: %s', (content, answer) => {
    expect(asked('ci', swap('95% CI [0.89, 0.93]', content))).toEqual([answer])
  })

  test.each([
    ['0.4', 'upheld: the effect size is 0.4'],
    ['r = -.3 (small)', 'upheld: the effect size is -0.3'],
    ['large', 'unsupported: the effect size has no number'],
    ['R2 is good', 'unsupported: the effect size has no number'],
  ])('an effect size %s: %s', (content, answer) => {
    expect(asked('effect_size', swap("Cohen's d = 0.6", content))).toEqual([answer])
  })

  test.each([
    ['0', 'upheld: the p-value is 0'],
    ['p < 1', 'upheld: the p-value is 1'],
    ['1.2', 'refuted: a p-value is from 0 to 1, this one is 1.2'],
    ['-0.1', 'refuted: a p-value is from 0 to 1, this one is -0.1'],
    ['small', 'unsupported: the p-value has no number'],
  ])('a p-value %s: %s', (content, answer) => {
    expect(asked('p_value', swap('0.003', content))).toEqual([answer])
  })

  test('of several before a finding the nearest counts', () => {
    const nearer = swap('[FINDING]', '[STAT:ci] [1, 2]\n[STAT:effect_size] 7\n[STAT:p_value] 0.5\n[FINDING]')
    expect(asked('ci', nearer)).toEqual(['upheld: the interval is 1 to 2'])
    expect(asked('effect_size', nearer)).toEqual(['upheld: the effect size is 7'])
    expect(asked('p_value', nearer)).toEqual(['upheld: the p-value is 0.5'])
  })

  test('without a p-value nothing is asked about it', () => {
    expect(asked('p_value', swap('[STAT:p_value]', '[INFO]'))).toEqual([])
    expect(asked('p_value', swap('[STAT:p_value]', '[METRIC:p_value]'))).toEqual([])
  })

  test('rigor is the share of intervals and effect sizes that hold', () => {
    const record = verified(`${SOUND}\n${'\n'.repeat(11)}[FINDING] y\n[STAT:ci] [1, 2]\n[FINDING] z`)
    expect(record.parts.statistical_rigor).toBe(0.5)
    expect(record).toMatchObject({ findings_verified: 1, findings_rejected: 0 })
  })

  test('a finding whose statistics cannot be read is not verified', () => {
    expect(verified(swap('0.6', 'large'))).toMatchObject({ findings_verified: 0, findings_rejected: 0 })
    expect(verified(swap('[0.89, 0.93]', 'wide'))).toMatchObject({ findings_verified: 0, findings_rejected: 0 })
    expect(verified(swap('0.003', 'small'))).toMatchObject({ findings_verified: 1 })
  })
})

describe('references', () => {
  test.each([
    [
      'survey] "customers leave in the first three months"',
      'other] "customers leave in the first three months"',
      'refuted: the quotation "customers leave in the first three months" stands in another source than the one named',
    ],
    [
      '"customers leave in the first three months"',
      '"customers never leave us at all"',
      'refuted: the quotation "customers never leave us at all" stands in no stored source',
    ],
    [
      '"customers leave in the first three months"',
      '"customers leave in the first do not matter to those"',
      'refuted: the quotation "customers leave in the first do not matter to those" is put together from parts',
    ],
  ])('%s -> %s', (from, to, answer) => {
    const text = swap(from, to)
    expect(asked('reference', text)).toContain(answer)
    expect(verified(text)).toMatchObject({ findings_verified: 0, findings_rejected: 1 })
  })

  test('a source nobody stored is refuted', () => {
    expect(asked('reference', swap('survey]', 'hearsay]'))).toEqual([
      'refuted: the source "hearsay" is not stored',
      expect.stringMatching(/^refuted: /),
    ])
  })

  test('a quotation of the finding itself may stand in any source; one under 12 characters does not count', () => {
    const bare = '[FINDING] "Prices do not matter" to them, "yes"'
    expect(asked('reference', bare)).toEqual(['upheld: the quotation "Prices do not matter" is found'])
    expect(asked('reference', '[FINDING] "yes"')).toEqual([
      'unsupported: the finding of line 1 quotes nothing and cites nothing',
    ])
  })

  test('what other markers quote is not asked', () => {
    expect(asked('reference', '[INFO] "nobody ever said that"\n[FINDING] x')).toEqual([
      'unsupported: the finding of line 2 quotes nothing and cites nothing',
    ])
  })

  test('citations are asked in the order of their lines', () => {
    const text = '[CITATION:survey] a\n[CITATION:other] b\n[FINDING] x'
    expect(asked('reference', text).map((one) => /"(\w+)"/.exec(one)?.[1])).toEqual(['survey', 'other'])
  })

  test('a long quotation is shown short', () => {
    const [answer = ''] = asked('reference', `[FINDING] "${'never said '.repeat(20)}"`)
    expect(answer).toBe(`refuted: the quotation "${'never said '.repeat(20).slice(0, 80)}" stands in no stored source`)
  })
})

describe('metrics', () => {
  test.each([
    ['cv_accuracy_mean = 0.9149', 'upheld'],
    ['cv_accuracy_mean: 0.915', 'upheld'],
    ['cv_accuracy_mean of 0.9', 'upheld'],
    ['cv-accuracy-mean is 9e-1', 'upheld'],
    ['cv_accuracy_mean = 0.92', 'refuted'],
    ['cv_accuracy_mean = 0.914', 'refuted'],
    ['cv_accuracy_mean = -0.91', 'refuted'],
    ['cv_accuracy_mean = 9.1e-1', 'upheld'],
    ['cv_accuracy_mean = 9.2e-1', 'refuted'],
  ])('%s of 0.9149 is %s', (words, outcome) => {
    const text = swap('cv_accuracy_mean = 0.91', words)
    expect(asked('metric', text).map((one) => one.split(':')[0])).toEqual([outcome])
    expect(verified(text).findings_rejected).toBe(outcome === 'refuted' ? 1 : 0)
  })

  test.each(['cv_accuracy_mean = 91%', 'cv_accuracy_mean = 1,234', 'recall = 0.9', 'good', 'xcv_accuracy_mean = 0.1'])(
    '%s states no metric that was measured',
    (words) => {
      expect(asked('metric', swap('cv_accuracy_mean = 0.91', words))).toEqual([
        'unsupported: the finding of line 11 states no metric that was measured',
      ])
    },
  )

  test('the last measurement counts, and one that is no number upholds nothing', () => {
    expect(asked('metric', `${SOUND}\n[METRIC:cv_accuracy_mean] 0.5`)[0]).toMatch(/^refuted: .* measured as 0.5$/)
    expect(asked('metric', `${SOUND}\n[METRIC:cv_accuracy_mean] 91%`)).toEqual([
      'refuted: cv_accuracy_mean is stated as 0.91, but no number was measured',
    ])
    expect(asked('metric', swap('[METRIC:', '[STAT:'))[0]).toMatch(/^unsupported/)
  })

  test('a whole number is stated to within a half', () => {
    const outcome = (stated: string) => asked('metric', `[METRIC:n] 91.5\n[FINDING] n = ${stated}`)[0]?.split(':')[0]
    expect(['91', '92'].map(outcome)).toEqual(['upheld', 'upheld'])
    expect(['90', '93'].map(outcome)).toEqual(['refuted', 'refuted'])
    expect(['9e1', '8e1'].map(outcome)).toEqual(['upheld', 'refuted'])
  })

  test('the part is the share of metrics that are numbers and of statements that hold', () => {
    const part = (text: string) => verified(text).parts.metric_verification
    expect(part(swap('0.9149', '91%'))).toBe(0)
    expect(part(`${SOUND}\n[METRIC:b] high\n[METRIC:c] 1`)).toBe(0.75)
    expect(part(swap('cv_accuracy_mean = 0.91', 'good'))).toBe(1)
  })

  test('takes linear time over long words and numbers', async () => {
    await expectLinear((size) => verified(`[FINDING] ${'a-'.repeat(size)}`), 50_000)
    await expectLinear((size) => verified(`[STAT:ci] ${'1'.repeat(size)}\n[FINDING] x`), 100_000)
  })
})

describe('artifacts', () => {
  const [right, wrong] = ['a'.repeat(64), 'b'.repeat(64)]
  const named = swap('[ARTIFACT]', `[ARTIFACT:sha256=${right}]`)

  test('one that does not exist is refuted', () => {
    expect(asked('artifact', SOUND, [{ name: 'model.pkl' }])).toEqual([
      'refuted: the artifact "out/model.pkl" does not exist',
    ])
    expect(asked('artifact', swap('out/model.pkl', ''), [{ name: 'x' }])).toEqual([
      'refuted: the artifact "" does not exist',
    ])
  })

  test('one with another sha256 than the one named is refuted, and so is one whose sha256 nobody knows', () => {
    const other = 'refuted: the artifact out/model.pkl has another sha256 than the one named'
    expect(asked('artifact', named, [{ name: 'out/model.pkl', sha256: wrong }])).toEqual([other])
    expect(asked('artifact', named, [{ name: 'out/model.pkl' }])).toEqual([other])
    expect(asked('artifact', named, [{ name: 'out/model.pkl', sha256: right }])[0]).toMatch(/^upheld/)
  })

  test('the path is the first word; several are asked in the order of their lines', () => {
    const text = '[ARTIFACT] b.csv (the table)\n[ARTIFACT] a.csv\n[FINDING] x'
    expect(asked('artifact', text, [{ name: 'a.csv' }, { name: 'b.csv' }])).toEqual([
      'upheld: the artifact b.csv exists',
      'upheld: the artifact a.csv exists',
    ])
  })

  test('evidence quality is the share of references and artifacts that hold', () => {
    expect(verified(SOUND, []).parts.evidence_quality).toBeCloseTo(2 / 3)
    expect(verified('[FINDING] x').parts.evidence_quality).toBe(0)
    expect(verified(swap('[ARTIFACT]', '[INFO]')).parts.evidence_quality).toBe(1)
    expect(asked('artifact', '[FINDING] x')).toEqual(['unsupported: the finding of line 1 names no artifact'])
  })
})

describe('completeness and methodology', () => {
  test.each([
    ['[OBJECTIVE]', 0.75, 1],
    ['[DATA]', 0.75, 1],
    ['[CONCLUSION]', 0.75, 1],
    ['[HYPOTHESIS]', 1, 1],
    ['[EXPERIMENT]', 1, 2 / 3],
    ['[LIMITATION]', 1, 2 / 3],
  ])('without %s', (marker, completeness, methodology) => {
    expect(verified(swap(marker, '[INFO]')).parts).toMatchObject({ completeness, methodology })
    // A marker that says nothing is none.
    expect(
      verified(SOUND.replace(/\[(\w+)\] .*/g, (line) => (line.startsWith(marker) ? marker : line))).parts,
    ).toMatchObject({
      completeness,
      methodology,
    })
  })

  test('an analysis will do for an experiment, an objective for a hypothesis; without findings a quarter is missing', () => {
    expect(verified(swap('[EXPERIMENT]', '[ANALYSIS]')).parts.methodology).toBe(1)
    expect(verified(SOUND.replace(/\[(HYPOTHESIS|OBJECTIVE)\]/g, '[INFO]')).parts.methodology).toBeCloseTo(2 / 3)
    expect(verified(swap('[FINDING]', '[INFO]')).parts.completeness).toBe(0.75)
  })
})

describe('GOAL_CLAIM_MISMATCH', () => {
  const record = { texts: [{ text: SOUND }], artifacts: [{ name: 'out/model.pkl' }], sources: SOURCES }
  const contract = contractOf(ACCURACY, { kind: 'finding_count', minCount: 1 })
  const mismatches = (change: object) =>
    verifyClaims({ ...record, ...change }).challenges.filter(({ type }) => type === 'GOAL_CLAIM_MISMATCH')

  test('is recorded where SUCCESS is claimed and the goal is not met, and costs nothing', () => {
    const found = verifyClaims({ ...record, contract, claimed_status: 'SUCCESS' })
    expect(found.challenges.at(-1)).toEqual({
      type: 'GOAL_CLAIM_MISMATCH',
      outcome: 'refuted',
      message: 'SUCCESS is claimed, and 1 of 2 criteria are met',
      source: null,
    })
    expect(found).toMatchObject({ trust_score: 100, findings_rejected: 0, findings_verified: 1 })
    expect(mismatches({ contract })).toHaveLength(1)
    expect(mismatches({ contract: null })).toHaveLength(1)
  })

  test('is not where the goal is met, nothing was claimed beyond it, or there is no contract', () => {
    const met = { ...contract, acceptance_criteria: contract.acceptance_criteria.slice(1) }
    expect(mismatches({ contract: met, claimed_status: 'SUCCESS' })).toEqual([])
    expect(mismatches({ contract, claimed_status: 'PARTIAL' })).toEqual([])
    expect(mismatches({ contract, claimed_status: 'BLOCKED' })).toEqual([])
    expect(mismatches({ claimed_status: 'SUCCESS' })).toEqual([])
  })
})
