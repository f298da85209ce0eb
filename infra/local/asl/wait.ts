import type { WaitState } from '../../../shared/compile/asl.ts'
import { record } from './live-execution.ts'
import { nextOf, onward } from './onward.ts'
import { pause } from './pause.ts'
import { StateError } from './state-error.ts'
import { compileField } from './template.ts'
import { type Outcome, placeOf, statesOf, type Visit } from './visit.ts'

const MOST_SECONDS = 99_999_999

/** Waits Seconds or until Timestamp. The end is journalled as an instant, so a restart does not wait again. */
export async function runWait(state: WaitState, visit: Visit): Promise<Outcome> {
  const { frame } = visit
  const { clock } = frame.execution.engine
  const until = visit.memo?.wait_until ?? (await endOf(state, visit))
  if (until > clock.now()) {
    record(frame, placeOf(visit, { wait_until: until }))
    await pause(frame, until)
  }
  return onward(state, visit, visit.input, nextOf(state))
}

async function endOf(state: WaitState, visit: Visit): Promise<number> {
  const value = await compileField(state, state.Seconds === undefined ? 'Timestamp' : 'Seconds')(statesOf(visit))
  if (state.Seconds === undefined) return instant(value)
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_SECONDS) {
    return visit.frame.execution.engine.clock.now() + value * 1000
  }
  throw wrong('Seconds', `a whole number from 0 to ${MOST_SECONDS}`, value)
}

function instant(value: unknown): number {
  const at = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(at)) throw wrong('Timestamp', 'an RFC 3339 time', value)
  return at
}

function wrong(field: string, allowed: string, seen: unknown): StateError {
  return new StateError('States.QueryEvaluationError', `${field} must be ${allowed}, it is ${JSON.stringify(seen)}`)
}
