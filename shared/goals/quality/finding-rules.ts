import { sourceOf } from '../criteria/source-of.ts'
import type { Evidence } from '../evidence.ts'
import { type JudgedFinding, judgeFindings, LOOK_BACK_LINES } from '../verified-findings.ts'
import type { QualityFlaw, QualityRule } from './quality-rule.ts'

const WHERE = `in the ${LOOK_BACK_LINES} lines before it`

export const findingNoCi: QualityRule = {
  code: 'FINDING_NO_CI',
  penalty: 30,
  profile: 'standard',
  summary: `A \`[FINDING]\` has no non-empty \`[STAT:ci]\` ${WHERE}; each finding counts.`,
  flaws: (evidence) => without(evidence, 'ci'),
}

export const findingNoEffectSize: QualityRule = {
  code: 'FINDING_NO_EFFECT_SIZE',
  penalty: 30,
  profile: 'standard',
  summary: `A \`[FINDING]\` has no non-empty \`[STAT:effect_size]\` ${WHERE}; each finding counts.`,
  flaws: (evidence) => without(evidence, 'effect_size'),
}

function without(
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
