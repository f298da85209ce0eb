import type { QuoteSource } from '../research/quote-index.ts'
import { indexQuotes } from '../research/quote-index.ts'
import type { Challenge, CheckedRecord } from './claims/challenge.ts'
import { type ClaimParts, scoreParts, trustScore } from './claims/claim-score.ts'
import { CHALLENGERS } from './claims/registry.ts'
import { type EvidenceArtifact, type EvidenceText, readEvidence } from './evidence.ts'
import { judgeGoal } from './goal-gate.ts'
import { readGoalContract } from './read-contract.ts'
import { readClaim } from './read-verdicts.ts'
import { type JudgedFinding, judgeFindings } from './verified-findings.ts'

export interface ClaimRecord {
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
export interface Verification {
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
  const checked: CheckedRecord = { evidence, quotes: indexQuotes(record.sources) }
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
