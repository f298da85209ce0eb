import { describeValue } from '../text/wording.ts'
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
export function decideFinalStatus(given: {
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
  return list.map((one) => (typeof one === 'string' ? one : describeValue(one)))
}
