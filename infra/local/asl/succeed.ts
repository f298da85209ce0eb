import type { SucceedState } from '../../../shared/compile/asl.ts'
import { onward } from './onward.ts'
import type { Outcome, Visit } from './visit.ts'

/** Ends the frame with its input, or with Output. */
export function runSucceed(state: SucceedState, visit: Visit): Outcome | Promise<Outcome> {
  return onward(state, visit, visit.input, undefined)
}
