import type { Decided, DecisionToSend } from './send-decision.ts'

/** `Approved block deploy of run_..`; a vote that is not the last is told as one. */
export function decidedLine(decision: DecisionToSend['decision'], { approval }: Decided, what: string): string {
  if (approval.status !== 'pending') return `${DONE[decision]} ${what}.`
  const { votes = [] } = approval
  return `Voted for ${what}: ${votes.length === 1 ? '1 vote' : `${votes.length} votes`} so far, it waits for more.`
}

const DONE = { approve: 'Approved', reject: 'Rejected', waive: 'Waived the failed gates of' } as const
