import type { ChainState, StageTrace } from '../../shared/research/chain-state.ts'

/** What the work of a stage came to: what changes in the state of the chain, and where it goes on. */
export interface StageOutcome {
  readonly change: Partial<ChainState>
  readonly next: ChainState['next']
  /** Why the answer is less than it could be. */
  readonly degraded?: readonly (string | undefined)[]
  /** What the trace and the event say of it. */
  readonly said?: Pick<StageTrace, 'action' | 'rationale' | 'sufficient' | 'found' | 'judged'>
}

/** Straight to the answer, without another call of a model: the chain cannot go on as it should. */
export function toPlainAnswer(why: string, change: Partial<ChainState> = {}): StageOutcome {
  return { change: { ...change, plain: true }, next: 'synthesize_answer', degraded: [why] }
}
