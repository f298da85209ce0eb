import { shown } from '../text/wording.ts'
import type { GoalStatus } from './goal-gate.ts'

/** How a run can end; later is worse. FAILED: the run itself failed, ABORTED: it was stopped. */
export const FINAL_STATUSES = ['SUCCESS', 'PARTIAL', 'BLOCKED', 'FAILED', 'ABORTED'] as const

export type FinalStatus = (typeof FINAL_STATUSES)[number]

export type NextAction = 'accept' | 'pivot' | 'none' | 'rework_trust' | 'rework_and_pivot' | 'fix_quality'

export interface DecisionRow {
  readonly trust: 'PASS' | 'FAIL'
  readonly goal: GoalStatus
  readonly final: FinalStatus
  readonly action: NextAction
  /** What a failed quality gate makes of the row; absent = it changes nothing. */
  readonly without_quality?: { readonly final: FinalStatus; readonly action: NextAction }
}

const FIX_QUALITY = { final: 'PARTIAL', action: 'fix_quality' } as const

/** The two-gate matrix (docs/goal-gates.md, "What is decided"). A skipped goal gate decides as one that is met. */
export const DECISION_TABLE: readonly DecisionRow[] = [
  { trust: 'PASS', goal: 'MET', final: 'SUCCESS', action: 'accept', without_quality: FIX_QUALITY },
  { trust: 'PASS', goal: 'NOT_MET', final: 'PARTIAL', action: 'pivot' },
  { trust: 'PASS', goal: 'BLOCKED', final: 'BLOCKED', action: 'none' },
  { trust: 'FAIL', goal: 'MET', final: 'PARTIAL', action: 'rework_trust' },
  { trust: 'FAIL', goal: 'NOT_MET', final: 'PARTIAL', action: 'rework_and_pivot' },
  { trust: 'FAIL', goal: 'BLOCKED', final: 'BLOCKED', action: 'none' },
  { trust: 'PASS', goal: 'NO_CONTRACT', final: 'SUCCESS', action: 'accept', without_quality: FIX_QUALITY },
  { trust: 'FAIL', goal: 'NO_CONTRACT', final: 'PARTIAL', action: 'rework_trust' },
]

interface Decision {
  readonly final_status: FinalStatus
  /** The row of the matrix: `PASS x NOT_MET`. */
  readonly row: string
  readonly action: NextAction
}

/**
 * The only reader of the table. Gates only downgrade: a claim that is worse than what they say stays, and then there is
 * nothing the gates want done.
 */
export function decideTwoGates(given: {
  readonly trust_passed: boolean
  readonly goal_status: GoalStatus
  readonly quality_passed: boolean
  readonly claimed_status: FinalStatus
}): Decision {
  const trust = given.trust_passed ? 'PASS' : 'FAIL'
  const row = `${trust} x ${given.goal_status}`
  const found = DECISION_TABLE.find((one) => one.trust === trust && one.goal === given.goal_status)
  const { final, action } = (given.quality_passed ? undefined : found?.without_quality) ?? found ?? NO_ROW
  const claimed = given.claimed_status
  if (FINAL_STATUSES.indexOf(claimed) > FINAL_STATUSES.indexOf(final))
    return { final_status: claimed, row, action: 'none' }
  return { final_status: final, row, action }
}

/** A status nobody knows decides for nothing. */
const NO_ROW = { final: 'PARTIAL', action: 'none' } as const

/** From here on a score is VERIFIED; nothing below passes. */
const TRUST_THRESHOLD = 80

type TrustBand = 'VERIFIED' | 'PARTIAL' | 'DOUBTFUL' | 'REJECTED'

export interface TrustResult {
  /** The lowest score of all verifiers; null where one gave none that counts. */
  readonly score: number | null
  readonly passed: boolean
  /** For people; null without a score. */
  readonly band: TrustBand | null
  /** One sentence without a full stop. */
  readonly message: string
}

/** Bands from the top, each with its lowest score. */
export const TRUST_BANDS: readonly (readonly [TrustBand, number])[] = [
  ['VERIFIED', TRUST_THRESHOLD],
  ['PARTIAL', 60],
  ['DOUBTFUL', 40],
  ['REJECTED', 0],
]

/**
 * The trust gate over the scores of all verifiers: their minimum passes from 80 on. A verifier without a number from 0
 * to 100 fails it, and so does having no verifier.
 */
export function judgeTrust(scores: readonly unknown[]): TrustResult {
  if (scores.length === 0) return trustFailed('no verifier gave a trust score')
  const wrong = scores.filter((score) => !isScore(score))
  if (wrong.length > 0) return trustFailed(`a trust score is a number from 0 to 100, got ${shown(wrong[0])}`)
  // Each was checked just above.
  const score = Math.min(...(scores as readonly number[]))
  const [band] = TRUST_BANDS.find(([, lowest]) => score >= lowest) ?? ['REJECTED']
  const passed = band === 'VERIFIED'
  return { score, passed, band, message: `the trust score is ${score} (${band}), ${TRUST_THRESHOLD} is needed` }
}

function trustFailed(message: string): TrustResult {
  return { score: null, passed: false, band: null, message }
}

function isScore(score: unknown): boolean {
  return typeof score === 'number' && score >= 0 && score <= 100
}

/** What a block (or a line) claims as its status: nothing is SUCCESS, and a word nobody knows is no more than PARTIAL. */
export function readClaim(claimed: unknown): { readonly status: FinalStatus; readonly known: boolean } {
  if (claimed === undefined || claimed === null) return { status: 'SUCCESS', known: true }
  const status = FINAL_STATUSES.find((one) => one === claimed)
  return { status: status ?? 'PARTIAL', known: status !== undefined }
}

/** What a verifier says keeps the goal from being met: a list of texts. Anything else it may have said is one too. */
export function readBlockers(blockers: unknown): readonly string[] {
  if (blockers === undefined || blockers === null) return []
  const list: readonly unknown[] = Array.isArray(blockers) ? blockers : [blockers]
  return list.map((one) => (typeof one === 'string' ? one : shown(one)))
}
