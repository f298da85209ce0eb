import type {
  ChoiceState,
  Machine as Definition,
  FailState,
  PassState,
  State,
  SucceedState,
  WaitState,
} from '../../../shared/compile/asl.ts'
import type { Json } from '../../../shared/text/json.ts'
import { runMap, runParallel } from './branches.ts'
import { countEvents, type Frame, journalPosition, pause, STOPPED } from './execution-context.ts'
import { compileField } from './expression.ts'
import { StateError } from './state-error.ts'
import { framePosition, leaveState, nextState, type Outcome, statesVariable, type Visit } from './state-visit.ts'
import { runTask } from './task.ts'

/** Takes the first rule whose Condition is true, else Default. Output belongs to the rule. */
async function runChoice(state: ChoiceState, visit: Visit): Promise<Outcome> {
  for (const rule of state.Choices) {
    const holds = await compileField(rule, 'Condition')(statesVariable(visit))
    if (holds === true) return leaveState(rule, visit, visit.input, rule.Next)
    if (holds !== false) throw notBoolean(rule.Condition)
  }
  if (state.Default === undefined) {
    throw new StateError('States.NoChoiceMatched', `No rule of "${visit.name}" matches and it has no Default`)
  }
  return { output: visit.input, next: state.Default }
}

function notBoolean(condition: string): StateError {
  return new StateError('States.QueryEvaluationError', `The Condition '${condition}' must answer true or false`)
}

const MOST_SECONDS = 99_999_999

/** Waits Seconds or until Timestamp. The end is journalled as an instant, so a restart does not wait again. */
async function runWait(state: WaitState, visit: Visit): Promise<Outcome> {
  const { frame } = visit
  const { clock } = frame.execution.engine
  const until = visit.memo?.wait_until ?? (await endOf(state, visit))
  if (until > clock.now()) {
    journalPosition(frame, framePosition(visit, { wait_until: until }))
    await pause(frame, until)
  }
  return leaveState(state, visit, visit.input, nextState(state))
}

async function endOf(state: WaitState, visit: Visit): Promise<number> {
  const value = await compileField(state, state.Seconds === undefined ? 'Timestamp' : 'Seconds')(statesVariable(visit))
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

/** Hands its input on, or what Output makes of it. */
function runPass(state: PassState, visit: Visit): Outcome | Promise<Outcome> {
  return leaveState(state, visit, visit.input, nextState(state))
}

/** Ends the frame with its input, or with Output. */
function runSucceed(state: SucceedState, visit: Visit): Outcome | Promise<Outcome> {
  return leaveState(state, visit, visit.input, undefined)
}

/** Fails its frame; Error and Cause are text or expressions that answer text. */
async function runFail(state: FailState, visit: Visit): Promise<never> {
  const error = await text(state, 'Error', visit)
  const cause = await text(state, 'Cause', visit)
  throw new StateError(error, cause)
}

async function text(state: FailState, key: 'Error' | 'Cause', visit: Visit): Promise<string> {
  if (state[key] === undefined) return ''
  const value = await compileField(state, key)(statesVariable(visit))
  if (typeof value === 'string') return value
  throw new StateError('States.QueryEvaluationError', `${key} must answer text, it answered ${typeof value}`)
}

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
      journalPosition(frame, place)
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
  if (state === undefined) throw new StateError('States.Runtime', `The machine has no state "${visit.name}"`)
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
