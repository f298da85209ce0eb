import type { StageCall } from './stage-call.ts'

/** Tokens the chain's model calls may still use, those of this invocation taken off. */
export function tokensLeft({ head, meter, state }: Pick<StageCall, 'head' | 'meter' | 'state'>): number {
  const { cap_tokens = state.intent.budget_tokens, committed_tokens } = head.budget
  return cap_tokens - committed_tokens - meter.used.tokens
}

/** What all calls used, with this invocation's: a call that was lost counts with its estimate. */
export function tokensUsed({ head, meter }: Pick<StageCall, 'head' | 'meter'>): number {
  return head.budget.spent_tokens + meter.lost.tokens + meter.used.tokens
}
