import { AWS_QUOTAS } from '../../../shared/aws-quotas.ts'
import type { Machine as Definition } from '../../../shared/compile/asl.ts'
import type { Clock, Ids } from '../../../shared/ports/host.ts'
import type { TokenAnswer } from '../../../shared/runs/machine.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { ExecutionEnd, FramePosition, FrameSlot, Journal, JournalledExecution } from './journal.ts'
import { StateError } from './state-error.ts'

/** An execution a state starts. */
export interface ChildOrder {
  readonly machine: string
  readonly name: string
  readonly input: Json
}

export interface Child {
  /** Undefined: the engine closed first. */
  readonly over: Promise<ExecutionEnd | undefined>
  stop(): void
}

/** A call of AWS that a state makes itself. */
export interface NativeCall {
  /** `sqs:sendMessage`, `ecs:runTask.sync`, `lambda:invoke`. */
  readonly resource: string
  readonly arguments: Json
  /** The state, and what it was given. */
  readonly state: string
  readonly input: Json
  /** The execution's own input. */
  readonly execution: Json
}

/** Answers what the service would; throws a StateError with its error. The signal aborts when nobody waits any more. */
export type MakeNativeCall = (call: NativeCall, signal: AbortSignal) => Promise<Json>

/** What every execution of one machine engine shares. */
export interface ExecutionContext {
  invoke(functionName: string, payload: Json, signal: AbortSignal): Promise<Json>
  /** Absent: this place makes none. */
  readonly native?: MakeNativeCall | undefined
  readonly clock: Clock
  readonly ids: Ids
  readonly journal: Journal
  readonly alarms: Alarms
  readonly tokens: Tokens
  /** Invocations whose promise is not settled, also those nobody waits for any more. */
  readonly invocations: Map<Promise<unknown>, AbortController>
  /** Starts an execution for a state that waits for it, or finds the one it started before. */
  openChild(order: ChildOrder, before: boolean): Child
  /** Now and then a promise to wait for, so that a long run leaves room for I/O and the journal's commits. */
  breathe(): Promise<void> | undefined
  /** Resolves once everything journalled so far is committed, however often that has to be tried. */
  persisted(): Promise<void>
  /** The same with whatever commit comes next, or when the engine closes. */
  committed(): Promise<void>
  /** Whether a function tells nobody outside of the token it is given: that may be committed after it was called. */
  keepsToken(functionName: string): boolean
  /** Whether a function that is called again finds what it did: then it matters little that its state was left. */
  knowsAgain(functionName: string): boolean
}

export interface LiveExecution {
  readonly engine: ExecutionContext
  readonly journalled: JournalledExecution
  readonly definition: Definition
  readonly scope: Scope
  /** `Execution` and `StateMachine` of the context object. */
  readonly context: Readonly<Record<string, Json>>
  /** Places read from the journal and not yet taken up by their branch. */
  readonly resumed: Map<string, FramePosition>
  /** Set by stop and time-out: what the execution ends as, whatever its states do. `left`: the host closes. */
  ending?: ExecutionEnd | 'left'
}

/** One line of states: the execution itself, a branch of a Parallel, an item of a Map. */
export interface Frame {
  readonly execution: LiveExecution
  readonly slot: FrameSlot
  readonly scope: Scope
  /** `Map.Item` of the context object, inherited by everything inside the item. */
  readonly item?: { readonly Index: number; readonly Value: Json }
  /** The token the present state waits for. */
  token?: string
  /** The present state has (had) branches in the journal. */
  branched: boolean
}

/** Step Functions ends an execution whose history would reach 25,000 events. */
const MOST_EVENTS = AWS_QUOTAS.history_events.most - 1

/** Counts history events; throws the error Step Functions ends such an execution with. */
export function countEvents(execution: LiveExecution, events: number): void {
  execution.journalled.events += events
  if (execution.journalled.events <= MOST_EVENTS) return
  throw new StateError('States.Runtime', 'The execution reached the maximum number of history events (25000).')
}

/**
 * Journals where a frame stands; its old token and the branches it leaves go in the same commit. A stopped frame has
 * nothing to say any more: whoever stopped it decides what is kept. `soon`: with whatever commit comes next.
 */
export function journalPosition(frame: Frame, place: FramePosition, soon = false): void {
  if (frame.scope.ended) return
  const { engine, journalled } = frame.execution
  if (frame.branched) {
    frame.branched = false
    engine.journal.clear(journalled.id, frame.slot.path, soon)
    forgetResumed(frame)
  }
  if (frame.token !== undefined && !('token' in place && place.token === frame.token)) {
    engine.journal.closeToken(frame.token, soon)
    engine.tokens.drop(frame.token)
    delete frame.token
  }
  engine.journal.put(frame.slot, place, soon)
}

/** Items of a Map that never began before it failed must not be mistaken for those of its next try. */
function forgetResumed(frame: Frame): void {
  const { resumed } = frame.execution
  if (resumed.size === 0) return
  const below = `${frame.slot.path}/`
  for (const path of resumed.keys()) if (path.startsWith(below)) resumed.delete(path)
}

interface EngineDeps extends Pick<ExecutionContext, 'openChild' | 'native' | 'keepsToken' | 'knowsAgain'> {
  /** Somebody waits for a commit that comes later in this turn of the event loop. */
  commitWaits?(): boolean
  invoke(functionName: string, payload: Json, signal: AbortSignal): Promise<Json>
  readonly clock: Clock
  readonly ids: Ids
  readonly journal: Journal
}

/** State changes between two pauses for the event loop: a commit and a turn of I/O cost less than one of them. */
const STEPS_A_BREATH = 64

/** Between two tries to commit, ms. */
const RETRY_COMMIT_MS = 500

/** What the executions of one machine share, and the way to end it: abort every invocation, wait at most `ms`. */
export function createExecutionContext(deps: EngineDeps): ExecutionContext & { close(ms: number): Promise<void> } {
  const { clock, ids, journal } = deps
  const alarms = createAlarms(clock)
  const invocations: ExecutionContext['invocations'] = new Map()
  const closing = Promise.withResolvers<void>()
  const breathe = breathsInTurns(() => deps.commitWaits?.() === true)
  let closed = false
  return {
    invoke: (functionName, payload, signal) => deps.invoke(functionName, payload, signal),
    openChild: deps.openChild,
    native: deps.native,
    keepsToken: deps.keepsToken,
    knowsAgain: deps.knowsAgain,
    clock,
    ids,
    journal,
    alarms,
    tokens: createTokens(),
    invocations,
    breathe,
    async persisted() {
      while (!(await isDurable(journal)) && !closed) await clock.delay(RETRY_COMMIT_MS)
    },
    committed: () => Promise.race([journal.committed(), closing.promise]),
    async close(ms) {
      closed = true
      closing.resolve()
      alarms.clear()
      for (const controller of invocations.values()) controller.abort()
      const patience = new AbortController()
      const over = clock.delay(ms, patience.signal).catch(() => undefined)
      await Promise.race([Promise.allSettled(invocations.keys()), over])
      patience.abort()
    },
  }
}

/**
 * So many steps a turn of the event loop, of all executions and their branches together: whoever comes later goes on in the
 * next one, in the order in which they came, also where a thousand of them wait. Between two turns requests are read, and
 * those who wait for an answer get it: while `commitWaits` for the rest of a turn, the next steps are those of the turn
 * behind it, three times at most.
 */
export function breathsInTurns(commitWaits: () => boolean): () => Promise<void> | undefined {
  let steps = 0
  let waiting: (() => void)[] = []
  const afterCommits = (left: number): void => {
    setImmediate(() => (left > 0 && commitWaits() ? afterCommits(left - 1) : takeTurn()))
  }
  const takeTurn = (): void => {
    const first = waiting.slice(0, STEPS_A_BREATH)
    waiting = waiting.slice(STEPS_A_BREATH)
    steps = first.length
    if (waiting.length > 0) afterCommits(MOST_COMMITS_FIRST)
    for (const goOn of first) goOn()
  }
  return () => {
    if (steps < STEPS_A_BREATH && waiting.length === 0) {
      steps += 1
      return undefined
    }
    return new Promise((resolve) => {
      if (waiting.push(resolve) === 1) afterCommits(MOST_COMMITS_FIRST)
    })
  }
}

const MOST_COMMITS_FIRST = 3

async function isDurable(journal: Journal): Promise<boolean> {
  try {
    await journal.durable()
    return true
  } catch {
    return false
  }
}

interface Slot {
  readonly isInside: boolean
  answer?: TokenAnswer
  wake?: (answer: TokenAnswer) => void
  beat?: () => void
}

/** The tokens of running executions. For those of executions not resumed yet the journal is asked. */
interface Tokens {
  /** From now on the token can be answered; an answer known already (resumed) is given at once by `wait`. */
  open(token: string, answer?: TokenAnswer, isInside?: boolean): void
  /** Nobody outside knows it. */
  isInside(token: string): boolean
  /** Calls back when the answer comes, now if it is there. */
  wait(token: string, wake: (answer: TokenAnswer) => void): void
  /** Calls back whenever somebody says that who will answer is at work. */
  onBeat(token: string, beat: () => void): void
  /** False: nobody waits for the token any more. */
  beat(token: string): boolean
  drop(token: string): void
  /** Undefined: no such token is open. False: it has an answer. True: taken. */
  answer(token: string, answer: TokenAnswer): boolean | undefined
}

function createTokens(): Tokens {
  const slots = new Map<string, Slot>()
  return {
    open(token, answer, isInside = false) {
      if (!slots.has(token)) slots.set(token, answer === undefined ? { isInside } : { isInside, answer })
    },
    isInside: (token) => slots.get(token)?.isInside === true,
    wait(token, wake) {
      const slot = slots.get(token)
      if (slot === undefined) return
      if (slot.answer !== undefined) wake(slot.answer)
      else slot.wake = wake
    },
    onBeat(token, beat) {
      const slot = slots.get(token)
      if (slot !== undefined) slot.beat = beat
    },
    beat(token) {
      const slot = slots.get(token)
      if (slot === undefined || slot.answer !== undefined) return false
      slot.beat?.()
      return true
    },
    drop: (token) => void slots.delete(token),
    answer(token, answer) {
      const slot = slots.get(token)
      if (slot === undefined) return undefined
      if (slot.answer !== undefined) return false
      slot.answer = answer
      slot.wake?.(answer)
      return true
    },
  }
}

/** Thrown through frames whose scope ended; never a state's failure, never journalled. */
class Stopped extends Error {
  override readonly message = 'the execution or branch was stopped'
}

export const STOPPED: Error = new Stopped()

/**
 * What is stopped together: an execution, or the branches of one Parallel or Map. Whoever waits registers how to give
 * up. Lighter than an AbortSignal a branch: a wide Parallel opens one scope, not a thousand signals.
 */
interface Scope {
  ended: boolean
  readonly stops: Set<() => void>
}

/** A scope inside `parent` (ends with it); `release` unties the two. */
export function openScope(parent?: Scope): { readonly scope: Scope; release(): void } {
  const scope: Scope = { ended: parent?.ended ?? false, stops: new Set() }
  const stop = (): void => endScope(scope)
  parent?.stops.add(stop)
  return { scope, release: () => void parent?.stops.delete(stop) }
}

export function endScope(scope: Scope): void {
  if (scope.ended) return
  scope.ended = true
  const stops = [...scope.stops]
  scope.stops.clear()
  for (const stop of stops) stop()
}

/** Waits until `at` (ms since 1970); rejects with STOPPED when the frame's scope ends first. */
export function pause(frame: Frame, at: number): Promise<void> {
  const { scope, execution } = frame
  const { alarms } = execution.engine
  return new Promise((resolve, reject) => {
    if (scope.ended) return reject(STOPPED)
    const stop = (): void => {
      alarms.cancel(alarm)
      reject(STOPPED)
    }
    const alarm = alarms.set(at, () => {
      scope.stops.delete(stop)
      resolve()
    })
    scope.stops.add(stop)
  })
}

/** setTimeout takes 2^31-1 ms; a longer one fires at once. */
const LONGEST_MS = 2_147_483_647

export interface Alarm {
  readonly at: number
  ring(): void
  /** Place in the heap; -1 when rung or cancelled. */
  index: number
}

/**
 * All time-outs and waits of a machine on one `clock.delay`: a task costs a heap insert and a removal instead of a
 * timer, and times further than 24.8 days are reached in steps.
 */
interface Alarms {
  /** Rings at `at` (ms since 1970) or as soon after as the clock allows, never in the same turn. */
  set(at: number, ring: () => void): Alarm
  cancel(alarm: Alarm): void
  /** Lets the pending delay go; alarms still set are forgotten. */
  clear(): void
}

/** Without a reason of its own, an abort makes one with a stack. */
const OTHER_TIME = 'another alarm comes first, or none'

export function createAlarms(clock: Clock): Alarms {
  const heap: Alarm[] = []
  let armed: { readonly at: number; readonly controller: AbortController } | undefined

  const disarm = (): void => {
    armed?.controller.abort(OTHER_TIME)
    armed = undefined
  }
  const arm = (): void => {
    const first = heap[0]
    if (first === undefined || (armed !== undefined && armed.at <= first.at)) return
    disarm()
    const now = clock.now()
    const ms = Math.min(Math.max(first.at - now, 0), LONGEST_MS)
    const mine = { at: now + ms, controller: new AbortController() }
    armed = mine
    clock.delay(ms, mine.controller.signal).then(
      () => (armed === mine ? fire() : undefined),
      () => undefined,
    )
  }
  const fire = (): void => {
    armed = undefined
    const now = clock.now()
    for (let first = heap[0]; first !== undefined && first.at <= now; first = heap[0]) {
      removeAt(heap, first)
      first.ring()
    }
    arm()
  }
  return {
    set(at, ring) {
      const alarm: Alarm = { at, ring, index: heap.length }
      heap.push(alarm)
      rise(heap, alarm)
      arm()
      return alarm
    },
    cancel: (alarm) => removeAt(heap, alarm),
    clear() {
      for (const alarm of heap.splice(0)) alarm.index = -1
      disarm()
    },
  }
}

function removeAt(heap: Alarm[], alarm: Alarm): void {
  const hole = alarm.index
  if (hole < 0) return
  alarm.index = -1
  const last = heap.pop()
  if (last === undefined || last === alarm) return
  putAt(heap, last, hole)
  rise(heap, last)
  sink(heap, last)
}

function rise(heap: Alarm[], alarm: Alarm): void {
  while (alarm.index > 0) {
    const above = heap[(alarm.index - 1) >> 1]
    if (above === undefined || above.at <= alarm.at) return
    const to = above.index
    putAt(heap, above, alarm.index)
    putAt(heap, alarm, to)
  }
}

function sink(heap: Alarm[], alarm: Alarm): void {
  for (;;) {
    const left = heap[2 * alarm.index + 1]
    const right = heap[2 * alarm.index + 2]
    const below = right !== undefined && left !== undefined && right.at < left.at ? right : left
    if (below === undefined || below.at >= alarm.at) return
    const to = below.index
    putAt(heap, below, alarm.index)
    putAt(heap, alarm, to)
  }
}

function putAt(heap: Alarm[], alarm: Alarm, index: number): void {
  heap[index] = alarm
  alarm.index = index
}
