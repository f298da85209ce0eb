import type { Json } from '../../../shared/canonical.ts'
import type { TaskState } from '../../../shared/compile/asl.ts'
import type { ExecutionEnd } from './journal.ts'
import { type Child, type ChildOrder, countEvents, type Frame, record } from './live-execution.ts'
import { nextOf, onward } from './onward.ts'
import { overTheWire } from './payload.ts'
import { STOPPED } from './scope.ts'
import { StateError } from './state-error.ts'
import { compileField } from './template.ts'
import { type Outcome, placeOf, statesOf, type Visit } from './visit.ts'

/** Runs an execution of another machine and waits for its end; its output comes parsed. */
export const EXECUTE = 'arn:aws:states:::states:startExecution.sync:2'

/**
 * Starts the execution, or goes on waiting for the one this state started before a kill. It is aborted with the state
 * that waits for it. An execution that ended otherwise than well is States.TaskFailed.
 */
export async function tryChild(state: TaskState, visit: Visit): Promise<Outcome> {
  const { frame, memo } = visit
  countEvents(frame.execution, 4)
  const order = orderOf(await compileField(state, 'Arguments')(statesOf(visit)))
  if (frame.scope.ended) throw STOPPED
  const child = frame.execution.engine.openChild(order, memo?.child === true)
  record(frame, placeOf(visit, { child: true }))
  const end = await endOf(frame, child)
  const { machine, name, input } = order
  const seen = { ExecutionArn: `${machine}:${name}`, Name: name, StateMachineArn: machine, Status: end.status }
  if (end.status !== 'SUCCEEDED') {
    const why = { ...seen, Error: end.error ?? '', Cause: end.cause ?? '' }
    throw new StateError('States.TaskFailed', JSON.stringify(why))
  }
  return onward(state, visit, { ...seen, Input: input, Output: end.output ?? null }, nextOf(state))
}

function orderOf(value: Json): ChildOrder {
  if (typeof value === 'object' && value !== null && 'StateMachineArn' in value) {
    const { StateMachineArn: machine, Name: name, Input } = value
    if (typeof machine === 'string' && typeof name === 'string') {
      return { machine, name, input: overTheWire(Input ?? {}, 'input of the execution') }
    }
  }
  throw new StateError('States.Runtime', 'Arguments must answer {StateMachineArn, Name, Input}')
}

function endOf(frame: Frame, child: Child): Promise<ExecutionEnd> {
  const { execution, scope } = frame
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      // When the host closes, the journal goes on with both.
      if (execution.ending !== 'left') child.stop()
      reject(STOPPED)
    }
    scope.stops.add(stop)
    void child.over.then((end) => {
      scope.stops.delete(stop)
      if (end === undefined) reject(STOPPED)
      else resolve(end)
    })
  })
}
