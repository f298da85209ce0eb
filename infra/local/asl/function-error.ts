import { StateError } from './state-error.ts'

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
