import type { Json } from '../../../shared/canonical.ts'
import type { Machine as Definition, State } from '../../../shared/compile/asl.ts'
import { runChoice } from './choice.ts'
import { runFail } from './fail.ts'
import { countEvents, type Frame, record } from './live-execution.ts'
import { runMap } from './map.ts'
import { runParallel } from './parallel.ts'
import { runPass } from './pass.ts'
import { STOPPED } from './scope.ts'
import { runSucceed } from './succeed.ts'
import { runTask } from './task.ts'
import type { Outcome, Visit } from './visit.ts'
import { runWait } from './wait.ts'

/**
 * Runs one line of states from where the journal left it (else from StartAt) to its output. Rejects with the
 * StateError nothing caught, or STOPPED.
 */
export async function runFrame(frame: Frame, definition: Definition, input: Json): Promise<Json> {
  const { execution, slot } = frame
  const { engine } = execution
  let place = execution.resumed.get(slot.path)
  execution.resumed.delete(slot.path)
  if (place === undefined) place = { state: definition.StartAt, input }
  try {
    while ('state' in place) {
      const outcome = runState(definition, visitOf(frame, place))
      const { output, next } = outcome instanceof Promise ? await outcome : outcome
      if (frame.scope.ended) throw STOPPED
      place = next === undefined ? { output } : { state: next, input: output }
      record(frame, place)
      const rest = engine.breathe()
      if (rest !== undefined) await rest
    }
    return place.output
  } finally {
    // Whatever ended the frame, its token can no longer be answered.
    if (frame.token !== undefined) engine.tokens.drop(frame.token)
  }
}

function visitOf(frame: Frame, place: Extract<Frame['slot']['place'], { readonly state: string }>): Visit {
  const entered = new Date(frame.execution.engine.clock.now()).toISOString()
  const { state, input, retries } = place
  return { frame, name: state, input, entered, ...(retries && { retries: [...retries] }), memo: place }
}

function runState(definition: Definition, visit: Visit): Outcome | Promise<Outcome> {
  if (visit.frame.scope.ended) throw STOPPED
  const state = definition.States[visit.name]
  if (state === undefined) throw new Error(`no state "${visit.name}"`)
  countEvents(visit.frame.execution, 2)
  // The table's row is that of the state's own type; TypeScript cannot follow the index.
  return RUN[state.Type](state as never, visit)
}

/** One runner a state type; each takes the state of its own type. */
const RUN: {
  readonly [T in State['Type']]: (state: Extract<State, { Type: T }>, visit: Visit) => Outcome | Promise<Outcome>
} = {
  Task: runTask,
  Choice: runChoice,
  Wait: runWait,
  Pass: runPass,
  Succeed: runSucceed,
  Fail: runFail,
  Parallel: (state, visit) => runParallel(state, visit, runFrame),
  Map: (state, visit) => runMap(state, visit, runFrame),
}
