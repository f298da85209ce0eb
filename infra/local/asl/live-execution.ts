import type { Json } from '../../../shared/canonical.ts'
import type { Machine as Definition } from '../../../shared/compile/asl.ts'
import type { Clock, Ids } from '../../../shared/world.ts'
import type { Alarms } from './alarms.ts'
import type { ExecutionEnd, FramePlace, FrameSlot, Journal, JournalledExecution } from './journal.ts'
import type { Scope } from './scope.ts'
import { StateError } from './state-error.ts'
import type { Tokens } from './tokens.ts'

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

/** What every execution of one machine engine shares. */
export interface Engine {
  invoke(functionName: string, payload: Json, signal: AbortSignal): Promise<Json>
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
}

export interface LiveExecution {
  readonly engine: Engine
  readonly journalled: JournalledExecution
  readonly definition: Definition
  readonly scope: Scope
  /** `Execution` and `StateMachine` of the context object. */
  readonly context: Readonly<Record<string, Json>>
  /** Places read from the journal and not yet taken up by their branch. */
  readonly resumed: Map<string, FramePlace>
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
const MOST_EVENTS = 24_999

/** Counts history events; throws the error Step Functions ends such an execution with. */
export function countEvents(execution: LiveExecution, events: number): void {
  execution.journalled.events += events
  if (execution.journalled.events <= MOST_EVENTS) return
  throw new StateError('States.Runtime', 'The execution reached the maximum number of history events (25000).')
}

/**
 * Journals where a frame stands; its old token and the branches it leaves go in the same commit. A stopped frame has
 * nothing to say any more: whoever stopped it decides what is kept.
 */
export function record(frame: Frame, place: FramePlace): void {
  if (frame.scope.ended) return
  const { engine, journalled } = frame.execution
  if (frame.branched) {
    frame.branched = false
    engine.journal.clear(journalled.id, frame.slot.path)
    forgetResumed(frame)
  }
  if (frame.token !== undefined && !('token' in place && place.token === frame.token)) {
    engine.journal.closeToken(frame.token)
    engine.tokens.drop(frame.token)
    delete frame.token
  }
  engine.journal.put(frame.slot, place)
}

/** Items of a Map that never began before it failed must not be mistaken for those of its next try. */
function forgetResumed(frame: Frame): void {
  const { resumed } = frame.execution
  if (resumed.size === 0) return
  const below = `${frame.slot.path}/`
  for (const path of resumed.keys()) if (path.startsWith(below)) resumed.delete(path)
}
