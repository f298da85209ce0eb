import type { Json } from '../../../shared/canonical.ts'
import type { TaskState } from '../../../shared/compile/asl.ts'
import { awaitToken, takeToken } from './callback.ts'
import { invoke } from './invoke.ts'
import { countEvents, type Frame } from './live-execution.ts'
import { nextOf, onward } from './onward.ts'
import { overTheWire } from './payload.ts'
import { STOPPED } from './scope.ts'
import { StateError } from './state-error.ts'
import { compileField } from './template.ts'
import { type Outcome, statesOf, type Visit } from './visit.ts'

interface Call {
  readonly functionName: string
  readonly payload: Json
}

/** The result is `{ExecutedVersion, Payload, StatusCode}`. */
export async function tryInvoke(state: TaskState, visit: Visit): Promise<Outcome> {
  const { frame } = visit
  countEvents(frame.execution, 3)
  const made = compileField(state, 'Arguments')(statesOf(visit))
  const call = callOf(made instanceof Promise ? await made : made)
  const answer = await invokeWithin(frame, call, state.TimeoutSeconds)
  const Payload = overTheWire(answer, 'answer of the function')
  return onward(state, visit, { ExecutedVersion: '$LATEST', Payload, StatusCode: 200 }, nextOf(state))
}

/** The result is the token's answer; what the function returns does not matter. */
export async function tryCallback(state: TaskState, visit: Visit): Promise<Outcome> {
  const { frame } = visit
  countEvents(frame.execution, 4)
  const ticket = await takeToken(visit, state.TimeoutSeconds)
  const call = callOf(await compileField(state, 'Arguments')(statesOf(visit)))
  const result = overTheWire(await awaitToken(visit, ticket, call), 'answer to the token')
  return onward(state, visit, result, nextOf(state))
}

function callOf(value: Json): Call {
  if (typeof value === 'object' && value !== null && 'FunctionName' in value) {
    const { FunctionName, Payload } = value
    if (typeof FunctionName === 'string') {
      return { functionName: FunctionName, payload: overTheWire(Payload ?? {}, 'payload for the function') }
    }
  }
  throw new StateError('States.Runtime', 'Arguments of a Task must answer {FunctionName, Payload}')
}

function invokeWithin(frame: Frame, call: Call, timeoutSeconds: number | undefined): Promise<Json> {
  const { engine } = frame.execution
  const { scope } = frame
  return new Promise((resolve, reject) => {
    if (scope.ended) return reject(STOPPED)
    const invocation = invoke(engine, call.functionName, call.payload)
    const leave = (error?: Error): void => {
      scope.stops.delete(stop)
      if (alarm !== undefined) engine.alarms.cancel(alarm)
      if (error === undefined) return
      invocation.abort()
      reject(error)
    }
    const stop = (): void => leave(STOPPED)
    const alarm =
      timeoutSeconds === undefined
        ? undefined
        : engine.alarms.set(engine.clock.now() + timeoutSeconds * 1000, () =>
            leave(new StateError('States.Timeout', '')),
          )
    scope.stops.add(stop)
    invocation.answer.then(
      (answer) => {
        leave()
        resolve(answer)
      },
      (error: unknown) => {
        leave()
        reject(error)
      },
    )
  })
}
