import type { CompletionWarning } from './completion.ts'
import type { GoalGateResult } from './goal-gate.ts'
import { MOST_MARKERS } from './marker.ts'
import type { QualityResult } from './quality-gate.ts'
import type { TrustResult } from './trust-gate.ts'

interface Judged {
  readonly goal: GoalGateResult
  readonly trust: TrustResult
  readonly quality: QualityResult
  /** What is wrong with the contract. */
  readonly contract_errors: readonly string[]
  /** A claimed status nobody knows. */
  readonly unknown_claim: boolean
  /** What somebody says keeps the goal from being met. */
  readonly blockers: readonly string[]
  /** Blocks with more markers than are read; undefined = texts of nobody known. */
  readonly cut_blocks: readonly (string | undefined)[]
  /** Gates that crashed, in words. */
  readonly crashes: readonly string[]
}

/** What a person should know of gates that did not pass, the goal first. */
export function completionWarnings(judged: Judged): readonly CompletionWarning[] {
  const { goal, contract_errors, crashes } = judged
  return [
    ...goalWarnings(goal),
    ...evidenceWarnings(judged),
    ...skippedWarnings(judged),
    ...judged.cut_blocks.map((block) => warning('MARKERS_CUT', `${whose(block)} has ${MORE}`)),
    ...contract_errors.map((message) => ({ code: 'GOAL_CONTRACT_INVALID', message, severity: 'error' as const })),
    ...crashes.map((message) => ({ code: 'GATE_CRASHED', message, severity: 'error' as const })),
  ]
}

const MORE = `more than ${MOST_MARKERS} markers in all its texts together; those behind were not read`

function whose(block: string | undefined): string {
  return block === undefined ? 'the output' : `block "${block}"`
}

function goalWarnings({ passed, metCount, totalCount, blockers = [] }: GoalGateResult): readonly CompletionWarning[] {
  if (passed) return []
  // Word for word what readers of these warnings compare with.
  const message = `Goal criteria not met: ${metCount}/${totalCount} criteria passed`
  const blocked = blockers.map((blocker) => warning('GOAL_BLOCKED', `The goal is blocked: ${blocker}`))
  return [warning('GOAL_NOT_MET', message), ...blocked]
}

function evidenceWarnings({ trust, quality }: Judged): readonly CompletionWarning[] {
  const { violations, score } = quality
  const flaws = `${violations.length} violation${violations.length === 1 ? '' : 's'}`
  return [
    ...(trust.passed ? [] : [warning('TRUST_NOT_VERIFIED', `Trust gate failed: ${trust.message}`)]),
    ...(quality.passed ? [] : [warning('QUALITY_NOT_PASSED', `Quality gates failed: ${flaws}, score ${score}`)]),
  ]
}

/** What was said and could not count. */
function skippedWarnings({ goal, blockers, unknown_claim }: Judged): readonly CompletionWarning[] {
  const without = goal.overallStatus === 'NO_CONTRACT' && blockers.length > 0
  return [
    ...(without
      ? [warning('BLOCKERS_WITHOUT_CONTRACT', `There is no goal contract to block: ${blockers.join('; ')}`)]
      : []),
    ...(unknown_claim ? [warning('CLAIM_UNKNOWN', 'The claimed status is none; it counts as PARTIAL')] : []),
  ]
}

function warning(code: string, message: string): CompletionWarning {
  return { code, message, severity: 'warning' }
}
