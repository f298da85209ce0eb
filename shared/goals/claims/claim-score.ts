import type { Evidence } from '../evidence.ts'
import { metricValue } from '../metric-value.ts'
import type { Challenge } from './challenge.ts'
import { CLAIM_WEIGHTS, REJECTED_FINDING_COSTS } from './claim-weights.ts'

export type ClaimParts = Readonly<Record<keyof typeof CLAIM_WEIGHTS, number>>

/**
 * The parts of a trust score, each from 0 to 1. A part there is nothing to look at for is 0: what was not shown is not
 * trusted.
 */
export function scoreParts(challenges: readonly Challenge[], { markers }: Evidence): ClaimParts {
  const of = (...types: readonly Challenge['type'][]) => challenges.filter(({ type }) => types.includes(type))
  const said = (...types: readonly string[]) =>
    markers.some(({ type, content }) => types.includes(type) && content !== '')
  const metrics = markers.filter(({ type }) => type === 'METRIC').map(({ content }) => metricValue(content).ok)
  const stated = of('metric').filter(decided).map(upheld)
  return {
    statistical_rigor: shareOf(of('ci', 'effect_size').map(upheld)),
    evidence_quality: shareOf(of('reference', 'artifact').filter(decided).map(upheld)),
    metric_verification: shareOf([...metrics, ...stated]),
    completeness: shareOf([said('OBJECTIVE'), said('DATA'), said('FINDING'), said('CONCLUSION')]),
    methodology: shareOf([said('HYPOTHESIS', 'OBJECTIVE'), said('EXPERIMENT', 'ANALYSIS'), said('LIMITATION')]),
  }
}

/** 0 to 100; two decimals, never rounded up: 79.999 is not 80. */
export function trustScore(parts: ClaimParts, rejected: number): number {
  // The keys of an object literal are its keys.
  const names = Object.keys(CLAIM_WEIGHTS) as readonly (keyof ClaimParts)[]
  const points = names.reduce((sum, name) => sum + CLAIM_WEIGHTS[name] * parts[name], 0)
  const score = points - REJECTED_FINDING_COSTS * rejected
  // Sums of thirds miss by less than a millionth.
  return Math.min(100, Math.max(0, Math.floor(score * 100 + 1e-6) / 100))
}

function decided({ outcome }: Challenge): boolean {
  return outcome !== 'unsupported'
}

function upheld({ outcome }: Challenge): boolean {
  return outcome === 'upheld'
}

function shareOf(answers: readonly boolean[]): number {
  return answers.length === 0 ? 0 : answers.filter(Boolean).length / answers.length
}
