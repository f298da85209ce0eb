import type { TaskState } from '../../../shared/compile/asl.ts'
import type { TokenAnswer } from '../../../shared/runs/machine.ts'
import type { Json } from '../../../shared/text/json.ts'
import {
  type Child,
  type ChildOrder,
  countEvents,
  type ExecutionContext,
  type Frame,
  journalPosition,
  type NativeCall,
  STOPPED,
} from './execution-context.ts'
import { compileField } from './expression.ts'
import type { ExecutionEnd } from './journal.ts'
import { withRetryAndCatch } from './retry-and-catch.ts'
import { functionError, StateError } from './state-error.ts'
import {
  copyAsJson,
  framePosition,
  leaveState,
  nextState,
  type Outcome,
  statesVariable,
  type Visit,
} from './state-visit.ts'

/** Resources of the two kinds of Task that call a function. */
export const INVOKE = 'arn:aws:states:::lambda:invoke'
export const INVOKE_AND_WAIT = 'arn:aws:states:::lambda:invoke.waitForTaskToken'

/** A call that is none of ours: what is called stands in the input of its state, as an expression alone. */
export function isNative({ Arguments }: { readonly Arguments?: unknown }): boolean {
  return typeof Arguments === 'string'
}

/** Invokes a function of ours, runs another execution, or has the place make a call of AWS. */
export function runTask(state: TaskState, visit: Visit): Promise<Outcome> {
  visit.isHeard = true
  if (isNative(state)) return withRetryAndCatch(state, visit, () => tryNative(state, visit))
  const attempt = { [INVOKE]: tryInvoke, [EXECUTE]: tryChild }[state.Resource] ?? tryCallback
  return withRetryAndCatch(state, visit, () => attempt(state, visit))
}

interface Call {
  readonly functionName: string
  readonly payload: Json
}

/** The result is `{ExecutedVersion, Payload, StatusCode}`. */
async function tryInvoke(state: TaskState, visit: Visit): Promise<Outcome> {
  const { frame } = visit
  countEvents(frame.execution, 3)
  const made = compileField(state, 'Arguments')(statesVariable(visit))
  const call = callOf(made instanceof Promise ? await made : made)
  visit.isHeard = !frame.execution.engine.knowsAgain(call.functionName)
  const answer = await invokeWithin(frame, call, await timeoutOf(state, visit))
  const Payload = copyAsJson(answer, 'answer of the function')
  return leaveState(state, visit, { ExecutedVersion: '$LATEST', Payload, StatusCode: 200 }, nextState(state))
}

/** The result is what the service answers, as the place has it. */
async function tryNative(state: TaskState, visit: Visit): Promise<Outcome> {
  const { frame, name, input } = visit
  const { engine, journalled } = frame.execution
  countEvents(frame.execution, state.Resource.includes('.sync') ? 4 : 3)
  const given = await compileField(state, 'Arguments')(statesVariable(visit))
  const order = {
    resource: state.Resource.replace(/^arn:aws:states:::/, ''),
    arguments: copyAsJson(given, 'Arguments of the call'),
    state: name,
    input,
    execution: journalled.input,
  }
  const most = await timeoutOf(state, visit)
  const answer = await answerWithin(frame, () => startNative(engine, order), most)
  return leaveState(state, visit, copyAsJson(answer, 'answer of the call'), nextState(state))
}

function startNative(engine: ExecutionContext, order: NativeCall): Invocation {
  return track(engine, async (signal) => {
    if (engine.native === undefined)
      throw new StateError('States.TaskFailed', `Nothing here makes the call ${order.resource}.`)
    return engine.native(order, signal)
  })
}

/** The result is the token's answer; what the function returns does not matter. */
async function tryCallback(state: TaskState, visit: Visit): Promise<Outcome> {
  const { frame } = visit
  countEvents(frame.execution, 4)
  const ticket = await takeToken(state, visit, await timeoutOf(state, visit))
  const call = callOf(await compileField(state, 'Arguments')(statesVariable(visit)))
  visit.isHeard = !frame.execution.engine.knowsAgain(call.functionName)
  const result = copyAsJson(await awaitToken(visit, ticket, call, state.HeartbeatSeconds), 'answer to the token')
  return leaveState(state, visit, result, nextState(state))
}

/** As Step Functions takes it: a whole number of seconds, or an expression that answers one. */
async function timeoutOf(state: TaskState, visit: Visit): Promise<number | undefined> {
  const { TimeoutSeconds } = state
  if (typeof TimeoutSeconds !== 'string') return TimeoutSeconds
  const value = await compileField(state, 'TimeoutSeconds')(statesVariable(visit))
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MOST_TIMEOUT_SEC) return value
  throw new StateError('States.Runtime', `TimeoutSeconds must be a whole number from 1 to ${MOST_TIMEOUT_SEC}`)
}

/** Source: Amazon States Language, "TimeoutSeconds". */
const MOST_TIMEOUT_SEC = 99_999_999

function callOf(value: Json): Call {
  if (typeof value === 'object' && value !== null && 'FunctionName' in value) {
    const { FunctionName, Payload } = value
    if (typeof FunctionName === 'string') {
      return { functionName: FunctionName, payload: copyAsJson(Payload ?? {}, 'payload for the function') }
    }
  }
  throw new StateError('States.Runtime', 'Arguments of a Task must answer {FunctionName, Payload}')
}

function invokeWithin(frame: Frame, call: Call, timeoutSeconds: number | undefined): Promise<Json> {
  const { engine } = frame.execution
  return answerWithin(frame, () => invoke(engine, call.functionName, call.payload), timeoutSeconds)
}

function answerWithin(frame: Frame, start: () => Invocation, timeoutSeconds: number | undefined): Promise<Json> {
  const { engine } = frame.execution
  const { scope } = frame
  return new Promise((resolve, reject) => {
    if (scope.ended) return reject(STOPPED)
    const invocation = start()
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

/** What a waiting task must not lose in a kill. */
interface Ticket {
  readonly token: string
  /** ms since 1970. */
  readonly deadline?: number
  /** The function returned before: it is not called again. */
  readonly asked: boolean
}

/** The token of this try: the journalled one after a kill, else a new one, committed before anybody outside sees it. */
async function takeToken(state: TaskState, visit: Visit, timeoutSeconds: number | undefined): Promise<Ticket> {
  const { frame, memo } = visit
  const { engine } = frame.execution
  if (memo?.token !== undefined) {
    frame.token = memo.token
    engine.tokens.open(memo.token)
    return ticketOf(memo.token, memo.deadline, memo.asked === true)
  }
  const token = Buffer.from(engine.ids.random(32)).toString('base64url')
  const deadline = timeoutSeconds === undefined ? undefined : engine.clock.now() + timeoutSeconds * 1000
  const ticket = ticketOf(token, deadline, false)
  const isInside = keepsToken(state, engine)
  frame.token = token
  engine.tokens.open(token, undefined, isInside)
  engine.journal.openToken(token, frame.slot, isInside)
  journalPosition(frame, framePosition(visit, { token, ...(deadline !== undefined && { deadline }) }), isInside)
  if (!isInside) await engine.persisted()
  return ticket
}

function keepsToken({ Arguments }: TaskState, engine: ExecutionContext): boolean {
  const isNamed = typeof Arguments === 'object' && Arguments !== null && 'FunctionName' in Arguments
  return isNamed && typeof Arguments.FunctionName === 'string' && engine.keepsToken(Arguments.FunctionName)
}

/** Invokes the function and waits for the token's answer, whichever comes first; the function's own error fails the state. */
function awaitToken(
  visit: Visit,
  ticket: Ticket,
  call: { readonly functionName: string; readonly payload: Json },
  heartbeatSeconds: number | undefined,
): Promise<Json> {
  const { frame } = visit
  const { engine } = frame.execution
  return new Promise((resolve, reject) => {
    if (frame.scope.ended) return reject(STOPPED)
    let invocation: Invocation | undefined
    let left = false
    const leave = (settle: () => void): void => {
      if (left) return
      left = true
      frame.scope.stops.delete(stop)
      if (alarm !== undefined) engine.alarms.cancel(alarm)
      heart?.stop()
      settle()
    }
    const giveUp = (error: Error): void =>
      leave(() => {
        invocation?.abort()
        reject(error)
      })
    const stop = (): void => giveUp(STOPPED)
    const { deadline } = ticket
    const alarm =
      deadline === undefined
        ? undefined
        : engine.alarms.set(deadline, () => giveUp(new StateError('States.Timeout', '')))
    const heart =
      heartbeatSeconds === undefined
        ? undefined
        : listenToHeart(engine, ticket, heartbeatSeconds, () => giveUp(new StateError('States.HeartbeatTimeout', '')))
    frame.scope.stops.add(stop)
    // An early answer goes on at once; the function may still be at work and is left to finish.
    engine.tokens.wait(ticket.token, (answer) => leave(() => answerWith(answer, resolve, reject)))
    if (left || ticket.asked) return heart?.resumed()
    invocation = invoke(engine, call.functionName, call.payload)
    invocation.answer.then(
      () => left || markAsked(frame, visit, ticket),
      (error: unknown) => leave(() => reject(error)),
    )
  })
}

/**
 * `over` once nobody said for so long that the work goes on. What was at work when this process ended was of that process:
 * a wait that is taken up is over at once.
 */
function listenToHeart(
  { alarms, clock, tokens }: ExecutionContext,
  { token }: Ticket,
  seconds: number,
  over: () => void,
) {
  const wait = () => alarms.set(clock.now() + seconds * 1_000, over)
  let alarm = wait()
  tokens.onBeat(token, () => {
    alarms.cancel(alarm)
    alarm = wait()
  })
  return { stop: () => alarms.cancel(alarm), resumed: over }
}

function answerWith(answer: TokenAnswer, resolve: (output: Json) => void, reject: (error: Error) => void): void {
  if ('ok' in answer) resolve(answer.ok)
  else reject(new StateError(answer.error, answer.cause))
}

function markAsked(frame: Frame, visit: Visit, ticket: Ticket): void {
  const { token, deadline } = ticket
  const place = framePosition(visit, { token, ...(deadline !== undefined && { deadline }), asked: true })
  journalPosition(frame, place, visit.isHeard !== true)
}

function ticketOf(token: string, deadline: number | undefined, asked: boolean): Ticket {
  return { token, ...(deadline !== undefined && { deadline }), asked }
}

/** Runs an execution of another machine and waits for its end; its output comes parsed. */
export const EXECUTE = 'arn:aws:states:::states:startExecution.sync:2'

/**
 * Starts the execution, or goes on waiting for the one this state started before a kill. It is aborted with the state
 * that waits for it. An execution that ended otherwise than well is States.TaskFailed.
 */
async function tryChild(state: TaskState, visit: Visit): Promise<Outcome> {
  const { frame, memo } = visit
  countEvents(frame.execution, 4)
  const order = orderOf(await compileField(state, 'Arguments')(statesVariable(visit)))
  if (frame.scope.ended) throw STOPPED
  const child = frame.execution.engine.openChild(order, memo?.child === true)
  journalPosition(frame, framePosition(visit, { child: true }))
  const end = await endOf(frame, child)
  const { machine, name, input } = order
  const seen = { ExecutionArn: `${machine}:${name}`, Name: name, StateMachineArn: machine, Status: end.status }
  if (end.status !== 'SUCCEEDED') {
    const why = { ...seen, Error: end.error ?? '', Cause: end.cause ?? '' }
    throw new StateError('States.TaskFailed', JSON.stringify(why))
  }
  return leaveState(state, visit, { ...seen, Input: input, Output: end.output ?? null }, nextState(state))
}

function orderOf(value: Json): ChildOrder {
  if (typeof value === 'object' && value !== null && 'StateMachineArn' in value) {
    const { StateMachineArn: machine, Name: name, Input } = value
    if (typeof machine === 'string' && typeof name === 'string') {
      return { machine, name, input: copyAsJson(Input ?? {}, 'input of the execution') }
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

interface Invocation {
  /** The function's answer; rejects with a StateError that has Lambda's Cause. Never left unhandled. */
  readonly answer: Promise<Json>
  abort(): void
}

/** Calls a function of ours and keeps the call in the engine's list until it settles. */
function invoke(engine: ExecutionContext, functionName: string, payload: Json): Invocation {
  return track(engine, (signal) => call(engine, functionName, payload, signal))
}

function track(engine: ExecutionContext, begin: (signal: AbortSignal) => Promise<Json>): Invocation {
  const controller = new AbortController()
  const answer = begin(controller.signal)
  engine.invocations.set(answer, controller)
  const forget = (): void => void engine.invocations.delete(answer)
  answer.then(forget, forget)
  return { answer, abort: () => controller.abort() }
}

async function call(engine: ExecutionContext, functionName: string, payload: Json, signal: AbortSignal): Promise<Json> {
  try {
    return await engine.invoke(functionName, payload, signal)
  } catch (thrown) {
    throw functionError(thrown)
  }
}
