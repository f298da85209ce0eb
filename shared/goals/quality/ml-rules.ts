import type { Evidence } from '../evidence.ts'
import type { QualityFlaw, QualityRule } from './quality-rule.ts'

export const mlNoBaseline: QualityRule = {
  code: 'ML_NO_BASELINE',
  penalty: 20,
  profile: 'ml',
  summary: 'There is no `[METRIC:baseline..]`: nothing to compare a model with.',
  flaws: (evidence) => missing(evidence, (name) => name.startsWith('baseline'), 'there is no [METRIC:baseline..] line'),
}

export const mlNoCv: QualityRule = {
  code: 'ML_NO_CV',
  penalty: 25,
  profile: 'ml',
  summary: 'There is no `[METRIC:cv..]`: nothing was cross-validated.',
  flaws: (evidence) => missing(evidence, (name) => name.startsWith('cv'), 'there is no [METRIC:cv..] line'),
}

const INTERPRETATIONS = ['feature_importance', 'top_features', 'shap', 'permutation_importance', 'interpretation']

export const mlNoInterpretation: QualityRule = {
  code: 'ML_NO_INTERPRETATION',
  penalty: 15,
  profile: 'ml',
  summary: `There is no \`[METRIC:..]\` named ${INTERPRETATIONS.map((name) => `\`${name}\``).join(', ')}.`,
  flaws: (evidence) =>
    missing(
      evidence,
      (name) => INTERPRETATIONS.includes(name),
      `there is no [METRIC:..] line named ${INTERPRETATIONS.join(', ')}`,
    ),
}

function missing({ markers }: Evidence, fits: (subtype: string) => boolean, message: string): readonly QualityFlaw[] {
  const found = markers.some(({ type, subtype }) => type === 'METRIC' && subtype !== undefined && fits(subtype))
  return found ? [] : [{ message }]
}
