import type { Json } from '../../../shared/canonical.ts'

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
