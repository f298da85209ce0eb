import type { FailState } from '../../../shared/compile/asl.ts'
import { StateError } from './state-error.ts'
import { compileField } from './template.ts'
import { statesOf, type Visit } from './visit.ts'

/** Fails its frame; Error and Cause are text or expressions that answer text. */
export async function runFail(state: FailState, visit: Visit): Promise<never> {
  const error = await text(state, 'Error', visit)
  const cause = await text(state, 'Cause', visit)
  throw new StateError(error, cause)
}

async function text(state: FailState, key: 'Error' | 'Cause', visit: Visit): Promise<string> {
  if (state[key] === undefined) return ''
  const value = await compileField(state, key)(statesOf(visit))
  if (typeof value === 'string') return value
  throw new StateError('States.QueryEvaluationError', `${key} must answer text, it answered ${typeof value}`)
}
