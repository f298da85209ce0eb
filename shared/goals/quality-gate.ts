import { type EvidenceSource, sourceOf } from './criteria/criterion.ts'
import { type Evidence, type JudgedFinding, judgeFindings, LOOK_BACK_LINES } from './evidence.ts'

interface QualityViolation {
  readonly code: string
  readonly penalty: number
  readonly message: string
  readonly source?: EvidenceSource
}

export interface QualityResult {
  readonly passed: boolean
  /** 100 less the penalties, 0 at least. */
  readonly score: number
  readonly violations: readonly QualityViolation[]
}

/** The quality gates: passed without a single violation. */
export function judgeQuality(evidence: Evidence, profile: QualityProfile = 'standard'): QualityResult {
  const rules = QUALITY_RULES.filter((rule) => rule.profile === 'standard' || rule.profile === profile)
  const violations = rules.flatMap(({ code, penalty, flaws }) =>
    flaws(evidence).map(({ message, source }) => ({ code, penalty, message, ...(source !== undefined && { source }) })),
  )
  const penalties = violations.reduce((sum, { penalty }) => sum + penalty, 0)
  return { passed: violations.length === 0, score: Math.max(0, 100 - penalties), violations }
}

export type QualityProfile = 'standard' | 'ml'

interface QualityFlaw {
  /** One sentence without a full stop. */
  readonly message: string
  readonly source?: EvidenceSource
}

/** One quality rule: adding one is this object in a file and a line in registry.ts. */
interface QualityRule {
  readonly code: string
  /** Taken off 100 for each flaw. */
  readonly penalty: number
  /** `standard` rules always hold, those of another profile where it is chosen. */
  readonly profile: QualityProfile
  /** For the generated reference. */
  readonly summary: string
  flaws(evidence: Evidence): readonly QualityFlaw[]
}

const WHERE = `in the ${LOOK_BACK_LINES} lines before it`

const findingNoCi: QualityRule = {
  code: 'FINDING_NO_CI',
  penalty: 30,
  profile: 'standard',
  summary: `A \`[FINDING]\` has no non-empty \`[STAT:ci]\` ${WHERE}; each finding counts.`,
  flaws: (evidence) => findingsWithout(evidence, 'ci'),
}

const findingNoEffectSize: QualityRule = {
  code: 'FINDING_NO_EFFECT_SIZE',
  penalty: 30,
  profile: 'standard',
  summary: `A \`[FINDING]\` has no non-empty \`[STAT:effect_size]\` ${WHERE}; each finding counts.`,
  flaws: (evidence) => findingsWithout(evidence, 'effect_size'),
}

function findingsWithout(
  evidence: Evidence,
  statistic: keyof Pick<JudgedFinding, 'ci' | 'effect_size'>,
): readonly QualityFlaw[] {
  return judgeFindings(evidence)
    .filter((one) => one[statistic] === undefined)
    .map(({ finding }) => ({
      message: `the finding of line ${finding.line} has no [STAT:${statistic}] ${WHERE}`,
      source: sourceOf(finding),
    }))
}

const mlNoBaseline: QualityRule = {
  code: 'ML_NO_BASELINE',
  penalty: 20,
  profile: 'ml',
  summary: 'There is no `[METRIC:baseline..]`: nothing to compare a model with.',
  flaws: (evidence) =>
    missingMetric(evidence, (name) => name.startsWith('baseline'), 'there is no [METRIC:baseline..] line'),
}

const mlNoCv: QualityRule = {
  code: 'ML_NO_CV',
  penalty: 25,
  profile: 'ml',
  summary: 'There is no `[METRIC:cv..]`: nothing was cross-validated.',
  flaws: (evidence) => missingMetric(evidence, (name) => name.startsWith('cv'), 'there is no [METRIC:cv..] line'),
}

const INTERPRETATIONS = ['feature_importance', 'top_features', 'shap', 'permutation_importance', 'interpretation']

const mlNoInterpretation: QualityRule = {
  code: 'ML_NO_INTERPRETATION',
  penalty: 15,
  profile: 'ml',
  summary: `There is no \`[METRIC:..]\` named ${INTERPRETATIONS.map((name) => `\`${name}\``).join(', ')}.`,
  flaws: (evidence) =>
    missingMetric(
      evidence,
      (name) => INTERPRETATIONS.includes(name),
      `there is no [METRIC:..] line named ${INTERPRETATIONS.join(', ')}`,
    ),
}

function missingMetric(
  { markers }: Evidence,
  fits: (subtype: string) => boolean,
  message: string,
): readonly QualityFlaw[] {
  const found = markers.some(({ type, subtype }) => type === 'METRIC' && subtype !== undefined && fits(subtype))
  return found ? [] : [{ message }]
}

/** Every quality rule, in the order of the generated reference. */
export const QUALITY_RULES: readonly QualityRule[] = [
  findingNoCi,
  findingNoEffectSize,
  mlNoBaseline,
  mlNoCv,
  mlNoInterpretation,
]
