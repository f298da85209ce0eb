import type { Json } from '../../shared/text/json.ts'

/** What a function answered, or how it ended, as Step Functions tells it of a state. */
export type FunctionAnswer = { readonly payload: Json } | { readonly error: string; readonly cause: string }

/** Calls a function on AWS with the credentials of who runs this process. The SDK is loaded with the first call. */
export async function callFunction(given: Json, signal: AbortSignal): Promise<FunctionAnswer> {
  const { invokeFunction } = await import('../aws/invoke-function.ts')
  return invokeFunction(given, signal)
}
