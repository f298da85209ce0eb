import { indexQuoteSources, type QuoteSource } from '../text/verbatim-quotes.ts'
import {
  type Challenge,
  type Challenger,
  type CheckedRecord,
  challengeArtifacts,
  challengeMetrics,
  challengeReferences,
  challengeStatistics,
} from './challenges.ts'
import { readClaim } from './decision-table.ts'
import {
  type Evidence,
  type EvidenceArtifact,
  type EvidenceText,
  type JudgedFinding,
  judgeFindings,
  readEvidence,
} from './evidence.ts'
import { judgeGoal } from './goal-gate.ts'
import { metricValue } from './marker.ts'
import { readGoalContract } from './read-contract.ts'

interface ClaimRecord {
  /** What the workers printed, in event order. */
  readonly texts: readonly EvidenceText[]
  /** What exists in the object store. */
  readonly artifacts: readonly EvidenceArtifact[]
  /** Stored bodies that may be quoted, by the ids citations use. */
  readonly sources: readonly QuoteSource[]
  /** undefined = there is none. */
  readonly contract?: unknown
  readonly claimed_status?: unknown
}

/** The outputs of a verifier block. */
interface Verification {
  readonly trust_score: number
  readonly challenges: readonly Challenge[]
  readonly findings_verified: number
  readonly findings_rejected: number
  /** What the score is made of, each from 0 to 1. */
  readonly parts: ClaimParts
}

/**
 * The deterministic verifier: every finding is checked again against the stored evidence (docs/goal-gates.md, "Trust").
 * A finding is rejected when the evidence contradicts any part of it, and verified when its statistics are readable and
 * nothing contradicts it. Whether the goal is met costs no points: that is the other gate's question.
 */
export function verifyClaims(record: ClaimRecord): Verification {
  const evidence = readEvidence(record.texts, record.artifacts)
  const checked: CheckedRecord = { evidence, quotes: indexQuoteSources(record.sources) }
  const asked = judgeFindings(evidence).map((finding) => challengesOf(finding, checked))
  const rejected = asked.filter((challenges) => challenges.some(({ outcome }) => outcome === 'refuted')).length
  const challenges = asked.flat()
  const parts = scoreParts(challenges, evidence)
  return {
    trust_score: trustScore(parts, rejected),
    challenges: [...challenges, ...goalChallenges(record, evidence)],
    findings_verified: asked.filter(isVerified).length,
    findings_rejected: rejected,
    parts,
  }
}

function challengesOf(finding: JudgedFinding, record: CheckedRecord): readonly Challenge[] {
  return CHALLENGERS.flatMap((challenge) => challenge(finding, record))
}

function isVerified(challenges: readonly Challenge[]): boolean {
  if (challenges.some(({ outcome }) => outcome === 'refuted')) return false
  return challenges.every(({ type, outcome }) => (type !== 'ci' && type !== 'effect_size') || outcome === 'upheld')
}

function goalChallenges(
  { contract, claimed_status }: ClaimRecord,
  evidence: CheckedRecord['evidence'],
): readonly Challenge[] {
  if (contract === undefined || readClaim(claimed_status).status !== 'SUCCESS') return []
  const { passed, metCount, totalCount } = judgeGoal(readGoalContract(contract), evidence)
  if (passed) return []
  const message = `SUCCESS is claimed, and ${metCount} of ${totalCount} criteria are met`
  return [{ type: 'GOAL_CLAIM_MISMATCH', outcome: 'refuted', message, source: null }]
}

/** Who asks each finding: together at least five questions. */
const CHALLENGERS: readonly Challenger[] = [
  challengeStatistics,
  challengeReferences,
  challengeMetrics,
  challengeArtifacts,
]

type ClaimParts = Readonly<Record<keyof typeof CLAIM_WEIGHTS, number>>

/**
 * The parts of a trust score, each from 0 to 1. A part there is nothing to look at for is 0: what was not shown is not
 * trusted.
 */
function scoreParts(challenges: readonly Challenge[], { markers }: Evidence): ClaimParts {
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
function trustScore(parts: ClaimParts, rejected: number): number {
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

/** Points of a trust score that each part is worth, and what a rejected finding costs (docs/goal-gates.md, "Trust"). */
export const CLAIM_WEIGHTS = {
  statistical_rigor: 30,
  evidence_quality: 25,
  metric_verification: 20,
  completeness: 15,
  methodology: 10,
} as const

export const REJECTED_FINDING_COSTS = 30
