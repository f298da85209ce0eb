import type { Json } from '../../../shared/text/json.ts'

/** A state (or execution) failed: the pair every Retry, Catch and DescribeExecution sees. Cause is at most 32,768 characters. */
export class StateError extends Error {
  readonly error: string
  readonly cause_text: string

  constructor(error: string, cause: string) {
    super(`${error}: ${cause.slice(0, 200)}`)
    this.error = error
    this.cause_text = cause.slice(0, 32_768)
  }
}

/** Anything that is not a state's own failure is a defect of this interpreter: nothing catches or retries it. */
export function asStateError(thrown: unknown): StateError {
  return thrown instanceof StateError ? thrown : new StateError('States.Runtime', String(thrown))
}

/** `$states.errorOutput`. */
export function errorOutput(failure: StateError): Json {
  return { Error: failure.error, Cause: failure.cause_text }
}

/** What the host's code threw inside an invocation, as Lambda's Node runtime reports it. */
export function functionError(thrown: unknown): StateError {
  if (!(thrown instanceof Error)) {
    return lambdaError(typeof thrown, String(thrown), [])
  }
  return lambdaError(thrown.name, thrown.message, (thrown.stack ?? '').split('\n'))
}

function lambdaError(errorType: string, errorMessage: string, trace: readonly string[]): StateError {
  return new StateError(errorType, JSON.stringify({ errorType, errorMessage, trace }))
}

/**
 * Whether ErrorEquals names the error. States.ALL and States.TaskFailed are wildcards that leave out
 * States.DataLimitExceeded, the latter States.Timeout too. States.Runtime always ends the execution.
 * Source: Step Functions guide, "Handling errors".
 */
export function errorEquals(names: readonly string[], error: string): boolean {
  if (error === 'States.Runtime') return false
  if (names.includes(error)) return true
  if (error === 'States.DataLimitExceeded') return false
  return names.includes('States.ALL') || (error !== 'States.Timeout' && names.includes('States.TaskFailed'))
}
