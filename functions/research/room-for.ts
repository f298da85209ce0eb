import type { promptRoom } from '../../shared/research/prompt-room.ts'
import type { StageCall } from './stage-call.ts'
import { tokensLeft } from './tokens-left.ts'

/** What the calls of a chain may still use, as promptRoom() divides it. */
export function roomFor(call: StageCall): Parameters<typeof promptRoom>[2] {
  const { head, state, world } = call
  return {
    cap: head.budget.cap_tokens ?? state.intent.budget_tokens,
    left: tokensLeft(call),
    max_tokens: world.settings.research.max_tokens,
  }
}
