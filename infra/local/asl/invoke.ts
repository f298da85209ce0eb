import type { Json } from '../../../shared/canonical.ts'
import { functionError } from './function-error.ts'
import type { Engine } from './live-execution.ts'

export interface Invocation {
  /** The function's answer; rejects with a StateError that has Lambda's Cause. Never left unhandled. */
  readonly answer: Promise<Json>
  abort(): void
}

/** Calls a function of ours and keeps the call in the engine's list until it settles. */
export function invoke(engine: Engine, functionName: string, payload: Json): Invocation {
  const controller = new AbortController()
  const answer = call(engine, functionName, payload, controller.signal)
  engine.invocations.set(answer, controller)
  const forget = (): void => void engine.invocations.delete(answer)
  answer.then(forget, forget)
  return { answer, abort: () => controller.abort() }
}

async function call(engine: Engine, functionName: string, payload: Json, signal: AbortSignal): Promise<Json> {
  try {
    return await engine.invoke(functionName, payload, signal)
  } catch (thrown) {
    throw functionError(thrown)
  }
}
