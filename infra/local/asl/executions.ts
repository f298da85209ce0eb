import type {
  ChoiceState,
  Machine as Definition,
  FailState,
  MapState,
  ParallelState,
  PassState,
  State,
  SucceedState,
  WaitState,
} from '../../../shared/compile/asl.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Clock } from '../../../shared/ports/host.ts'
import type { Execution } from '../../../shared/runs/machine.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import {
  type Child,
  type ChildOrder,
  countEvents,
  type ExecutionContext,
  endScope,
  type Frame,
  journalPosition,
  type LiveExecution,
  openScope,
  pause,
  STOPPED,
} from './execution-context.ts'
import { compileField, type StatesVariable } from './expression.ts'
import type { ExecutionEnd, FramePosition, Journal, JournalledExecution } from './journal.ts'
import { type Definitions, isPart } from './kept-machines.ts'
import { withRetryAndCatch } from './retry-and-catch.ts'
import { asStateError, StateError } from './state-error.ts'
import {
  framePosition,
  leaveState,
  nextState,
  type Outcome,
  statesVariable,
  type Visit,
  withinPayloadLimit,
} from './state-visit.ts'
import { runTask } from './task.ts'

/** An execution ready to be driven: new, or with the places the journal kept. */
function openExecution(
  engine: ExecutionContext,
  definition: Definition,
  journalled: JournalledExecution,
  resumed: Map<string, FramePosition>,
): LiveExecution {
  const { machine, name, input, started_at } = journalled
  const context = {
    Execution: { Id: `${machine}:${name}`, Input: input, Name: name, StartTime: new Date(started_at).toISOString() },
    StateMachine: { Id: machine, Name: machine },
  }
  return { engine, journalled, definition, scope: openScope().scope, context, resumed }
}

/** Runs the execution to its end; never rejects. Undefined: the engine closed first, the journal goes on with it. */
async function drive(execution: LiveExecution): Promise<ExecutionEnd | undefined> {
  const { engine, definition, journalled } = execution
  const { TimeoutSeconds } = definition
  const alarm =
    TimeoutSeconds === undefined
      ? undefined
      : engine.alarms.set(journalled.started_at + TimeoutSeconds * 1000, () => timeOut(execution))
  const reached = await endOfExecution(execution)
  if (alarm !== undefined) engine.alarms.cancel(alarm)
  const { ending = reached } = execution
  return ending === 'left' ? undefined : ending
}

/** Ends the execution from outside: its states stop and its invocations are aborted. The first to end it decides. */
export function endExecution(execution: LiveExecution, ending: ExecutionEnd | 'left'): void {
  if (execution.scope.ended) return
  execution.ending = ending
  endScope(execution.scope)
}

function timeOut(execution: LiveExecution): void {
  const ended_at = execution.engine.clock.now()
  endExecution(execution, { status: 'TIMED_OUT', error: 'States.Timeout', cause: '', ended_at })
}

async function endOfExecution(execution: LiveExecution): Promise<ExecutionEnd> {
  const { engine, definition, journalled } = execution
  const frame: Frame = {
    execution,
    slot: { execution: journalled, path: '', batch: 0 },
    scope: execution.scope,
    branched: false,
  }
  try {
    const output: Json = await runFrame(frame, definition, journalled.input)
    countEvents(execution, 1)
    return { status: 'SUCCEEDED', output, ended_at: engine.clock.now() }
  } catch (thrown) {
    const { error, cause_text: cause } = asStateError(thrown)
    return { status: 'FAILED', error, cause, ended_at: engine.clock.now() }
  }
}

interface Live {
  readonly execution: LiveExecution
  /** Settles when the end is committed and told; never rejects. */
  readonly over: Promise<void>
}

/** The executions this process drives. One leaves only after its end is committed, so the journal may be asked then. */
interface Running {
  launch(
    journalled: JournalledExecution,
    definition: Definition,
    places: Map<string, FramePosition>,
    isOwed?: boolean,
  ): Live
  has(id: number): boolean
  named(machine: string, name: string): Live | undefined
  all(): readonly Live[]
}

export function createRunningExecutions(
  engine: ExecutionContext,
  onEnd: ((name: string, execution: Execution, input: Json) => void) | undefined,
  endsLater: boolean,
): Running {
  const byId = new Map<number, Live>()
  const byName = new Map<string, Live>()
  const follow = async (execution: LiveExecution, isOwed: boolean): Promise<void> => {
    const { id, machine, name, input } = execution.journalled
    await (isOwed ? afterAnswers() : engine.persisted())
    const end = await drive(execution)
    if (end !== undefined) {
      engine.journal.end(id, end, endsLater && !isPart(machine))
      await engine.committed()
    }
    byId.delete(id)
    byName.delete(keyOf(machine, name))
    if (byId.size === 0) engine.alarms.clear()
    if (end !== undefined && !isPart(machine)) onEnd?.(name, describeEnd(end), input)
  }
  return {
    launch(journalled, definition, places, isOwed = false) {
      const { id, machine, name } = journalled
      for (const [token, answer] of places.size === 0 ? [] : engine.journal.tokens(id))
        engine.tokens.open(token, answer)
      const execution = openExecution(engine, definition, journalled, places)
      const live = { execution, over: follow(execution, isOwed) }
      byId.set(id, live)
      byName.set(keyOf(machine, name), live)
      return live
    },
    has: (id) => byId.has(id),
    named: (machine, name) => byName.get(keyOf(machine, name)),
    all: () => [...byId.values()],
  }
}

/** What the port says of an end. */
export function describeEnd(end: ExecutionEnd): Execution {
  const { status, error, cause } = end
  return { status, ...(error !== undefined && { error }), ...(cause !== undefined && { cause }) }
}

function keyOf(machine: string, name: string): string {
  return `${machine}\n${name}`
}

/** What executions of parts are started and found with. */
export interface PartsDeps {
  readonly definitions: Definitions
  readonly running: Running
  readonly journal: Journal
  readonly clock: Clock
}

/**
 * Starts the execution of a part. One of that name with the same input that still runs is the one asked for, as Step
 * Functions has it; one that has ended is only for who started it (`before`: it waited for it when the process died).
 */
export function openPart(deps: PartsDeps, { machine, name, input }: ChildOrder, before: boolean): Child {
  const { running, journal, clock, definitions } = deps
  const live = running.named(machine, name)
  if (live !== undefined) {
    if (canonicalJson(live.execution.journalled.input) !== canonicalJson(input)) throw exists(name)
    return childOf(deps, live)
  }
  const kept = journal.find(machine, name)
  if (kept !== undefined && !before) throw exists(name)
  if (kept !== undefined) return { over: Promise.resolve(kept.end), stop: () => undefined }
  try {
    const definition = definitions.load(machine)
    const made = journal.create({ machine, name, input, started_at: clock.now(), events: 1 })
    return childOf(deps, running.launch(made, definition, new Map()))
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new StateError('StepFunctions.StateMachineDoesNotExistException', error.message)
  }
}

/** Executions of parts of this one, nested ones too, that have not ended. */
export function partExecutions<T extends Pick<JournalledExecution, 'machine' | 'name'>>(
  all: readonly T[],
  machine: string,
  name: string,
): readonly T[] {
  return all.filter((one) => one.machine.startsWith(`${machine}/`) && one.name.startsWith(`${name}-`))
}

/** Those among unfinished executions whose whole has ended without them: a kill came between the two. */
export function orphanedParts(all: readonly JournalledExecution[]): readonly JournalledExecution[] {
  const wholes = all.filter(({ machine }) => !isPart(machine))
  const held = new Set(wholes.flatMap(({ machine, name }) => partExecutions(all, machine, name)))
  return all.filter((one) => isPart(one.machine) && !held.has(one))
}

function childOf({ journal, clock }: PartsDeps, { execution, over }: Live): Child {
  const { machine, name } = execution.journalled
  return {
    over: over.then(() => journal.find(machine, name)?.end),
    stop: () => endExecution(execution, abortedEnd('the execution that waited for it was stopped', clock)),
  }
}

function exists(name: string): StateError {
  return new StateError('StepFunctions.ExecutionAlreadyExistsException', `Execution Already Exists: '${name}'`)
}

/**
 * What is owed is begun again by who owes it: its row is committed with what it does first. Who was just told that it
 * starts hears so before it takes its turns: in this turn of the event loop the answer is committed, behind it the next.
 */
async function afterAnswers(): Promise<void> {
  for (let turns = 0; turns < 2; turns += 1) await new Promise((resolve) => void setImmediate(resolve))
}

/** How an execution ends that was stopped. */
export function abortedEnd(cause: string, clock: Clock): ExecutionEnd {
  return { status: 'ABORTED', cause, ended_at: clock.now() }
}

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
  const until = visit.memo?.wait_until ?? (await endOfWait(state, visit))
  if (until > clock.now()) {
    journalPosition(frame, framePosition(visit, { wait_until: until }))
    await pause(frame, until)
  }
  return leaveState(state, visit, visit.input, nextState(state))
}

async function endOfWait(state: WaitState, visit: Visit): Promise<number> {
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
async function runFrame(frame: Frame, definition: Definition, input: Json): Promise<Json> {
  const { engine } = frame.execution
  let place = takeUp(frame, { state: definition.StartAt, input })
  try {
    while ('state' in place) {
      const rest = engine.breathe()
      if (rest !== undefined) await rest
      const visit = visitOf(frame, place)
      const outcome = runState(definition, visit)
      const { output, next } = outcome instanceof Promise ? await outcome : outcome
      if (frame.scope.ended) throw STOPPED
      place = next === undefined ? { output } : { state: next, input: output }
      journalPosition(frame, place, visit.isHeard !== true)
    }
    return place.output
  } finally {
    // Whatever ended the frame, its token can no longer be answered.
    if (frame.token !== undefined) engine.tokens.drop(frame.token)
  }
}

function takeUp({ execution, slot }: Frame, start: FramePosition): FramePosition {
  const place = execution.resumed.get(slot.path) ?? start
  execution.resumed.delete(slot.path)
  return place
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

/** Runs one line of states to its output (run-frame.ts; handed down so that the state files do not import it back). */
type RunFrame = (frame: Frame, definition: Definition, input: Json) => Promise<Json>

interface Branch {
  readonly definition: Definition
  readonly input: Json
  readonly item?: Frame['item']
}

/**
 * Runs `count` branches, at most `width` at a time. The first failure ends the others: their states stop, their
 * invocations are aborted, their results are ignored. Answers the outputs in order.
 */
async function runBranches(
  visit: Visit,
  count: number,
  width: number,
  branch: (index: number) => Branch,
  run: RunFrame,
): Promise<Json> {
  const { frame } = visit
  const { scope, release } = openScope(frame.scope)
  const outputs = new Array<Json>(count)
  let next = 0
  frame.branched = true
  const lane = async (): Promise<void> => {
    while (next < count && !scope.ended) {
      const index = next
      next += 1
      const { definition, input, item } = branch(index)
      outputs[index] = await run(branchFrame(frame, scope, index, item), definition, input)
    }
  }
  const failing = async (): Promise<void> => {
    try {
      await lane()
    } catch (error) {
      endScope(scope)
      throw error
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(width, count) }, failing))
    return outputs
  } finally {
    release()
  }
}

function branchFrame(frame: Frame, scope: Frame['scope'], index: number, item: Frame['item']): Frame {
  const { execution, slot } = frame
  const inherited = item ?? frame.item
  return {
    execution,
    scope,
    slot: { execution: execution.journalled, path: `${slot.path}/${index}`, batch: 0 },
    ...(inherited && { item: inherited }),
    branched: false,
  }
}

/** Runs every branch on the same input; the result is the list of their outputs. */
function runParallel(state: ParallelState, visit: Visit, run: RunFrame): Promise<Outcome> {
  return withRetryAndCatch(state, visit, async () => {
    countEvents(visit.frame.execution, 2)
    const { Arguments, Branches } = state
    const input = Arguments === undefined ? visit.input : await compileField(state, 'Arguments')(statesVariable(visit))
    withinPayloadLimit(input, 'input of the branches')
    const branchOf = (index: number) => ({ definition: Branches[index] ?? NO_BRANCH, input })
    const result = await runBranches(visit, Branches.length, Branches.length, branchOf, run)
    return leaveState(state, visit, result, nextState(state))
  })
}

/** Never run: the index stays below Branches.length. */
const NO_BRANCH = { StartAt: '', States: {} }

/** An inline Map never runs more items at once (Step Functions quota). */
const MOST_AT_ONCE = 40

/** Runs the item processor once an item of Items (else of the input); the result is the list of their outputs. */
function runMap(state: MapState, visit: Visit, run: RunFrame): Promise<Outcome> {
  return withRetryAndCatch(state, visit, async () => {
    countEvents(visit.frame.execution, 2)
    const items = await itemsOf(state, visit)
    const inputs = await Promise.all(items.map((item, index) => inputOf(state, visit, item, index)))
    countEvents(visit.frame.execution, 2 * items.length)
    const branchOf = (index: number) => ({
      definition: state.ItemProcessor,
      input: inputs[index] ?? null,
      item: { Index: index, Value: items[index] ?? null },
    })
    const result = await runBranches(visit, items.length, widthOf(state), branchOf, run)
    return leaveState(state, visit, result, nextState(state))
  })
}

async function itemsOf(state: MapState, visit: Visit): Promise<readonly Json[]> {
  const items = state.Items === undefined ? visit.input : await compileField(state, 'Items')(statesVariable(visit))
  if (Array.isArray(items)) return items
  throw new StateError('States.QueryEvaluationError', `Items of "${visit.name}" must be a list, it is ${typeof items}`)
}

async function inputOf(state: MapState, visit: Visit, item: Json, index: number): Promise<Json> {
  if (state.ItemSelector === undefined) return item
  const states = statesVariable(visit)
  const context = { ...(states.context as object), Map: { Item: { Index: index, Value: item } } }
  const selected = await compileField(state, 'ItemSelector')({ ...states, context } satisfies StatesVariable)
  return withinPayloadLimit(selected, 'input of an item')
}

/** MaxConcurrency 0 means no limit of the author's. */
function widthOf(state: MapState): number {
  return Math.min(state.MaxConcurrency || MOST_AT_ONCE, MOST_AT_ONCE)
}
