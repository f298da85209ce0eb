import type { PassState } from '../../../shared/compile/asl.ts'
import { nextOf, onward } from './onward.ts'
import type { Outcome, Visit } from './visit.ts'

/** Hands its input on, or what Output makes of it. */
export function runPass(state: PassState, visit: Visit): Outcome | Promise<Outcome> {
  return onward(state, visit, visit.input, nextOf(state))
}
