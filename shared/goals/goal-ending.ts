import type { Completion } from './completion.ts'
import type { FinalStatus } from './decision-table.ts'

/** How a judged run ends: its state, a code of docs/errors.md, and one sentence without a full stop. */
export interface GoalEnding {
  readonly state: 'completed' | 'partial' | 'blocked' | 'failed' | 'cancelled'
  readonly code: string
  readonly reason: string
  readonly final_status: FinalStatus
  readonly row: string
}

const STATES = {
  SUCCESS: 'completed',
  PARTIAL: 'partial',
  BLOCKED: 'blocked',
  FAILED: 'failed',
  ABORTED: 'cancelled',
} as const satisfies Record<FinalStatus, GoalEnding['state']>

/** The end that a completion gives its run; `words` say how its blocks ended. */
export function goalEnding(completion: Completion, words: string): GoalEnding {
  const { final_status, row } = completion
  return {
    state: STATES[final_status],
    code: codeOf(completion),
    reason: reasonOf(completion, words),
    final_status,
    row,
  }
}

/** What is wanted next tells what was missing; where nothing is, a claim was worse than what the gates say. */
const CODES: Readonly<Record<Completion['action'], string>> = {
  accept: 'completed',
  pivot: 'goal_missed',
  rework_and_pivot: 'goal_missed',
  rework_trust: 'trust_failed',
  fix_quality: 'quality_failed',
  none: 'goal_out_of_reach',
}

const CLAIMED: Readonly<Record<FinalStatus, string>> = {
  SUCCESS: 'completed',
  PARTIAL: 'claimed_partial',
  BLOCKED: 'claimed_blocked',
  FAILED: 'claimed_failed',
  ABORTED: 'claimed_aborted',
}

function codeOf({ final_status, goal_status, action }: Completion): string {
  const isClaimed = action === 'none' && !(final_status === 'BLOCKED' && goal_status === 'BLOCKED')
  return isClaimed ? CLAIMED[final_status] : CODES[action]
}

function reasonOf({ final_status, warnings, met_count, total_count, row }: Completion, words: string): string {
  const messages = warnings.map(({ message }) => message)
  if (final_status !== 'SUCCESS' && messages.length > 0) return `${messages.join('; ')} (${row})`
  const criteria = total_count === 0 ? 'there is no goal contract' : `${met_count}/${total_count} criteria passed`
  return [`${words}; ${criteria} (${row})`, ...messages].join('; ')
}
