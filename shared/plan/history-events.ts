import type { State } from '../compile/asl.ts'

const INVOKED = ['TaskStateEntered', 'TaskScheduled', 'TaskStarted', 'TaskSucceeded', 'TaskStateExited']
/** A token and a child execution are submitted first, and succeed when they are answered or have ended. */
const AWAITED = [...INVOKED, 'TaskSubmitted']

/** What Step Functions writes into the history of an execution (API reference, HistoryEvent), by what writes it. */
const HISTORY = {
  execution: ['ExecutionStarted', 'ExecutionSucceeded'],
  invoked: INVOKED,
  awaited: AWAITED,
  Choice: ['ChoiceStateEntered', 'ChoiceStateExited'],
  Wait: ['WaitStateEntered', 'WaitStateExited'],
  Pass: ['PassStateEntered', 'PassStateExited'],
  Succeed: ['SucceedStateEntered', 'SucceedStateExited'],
  Fail: ['FailStateEntered'],
  Parallel: ['ParallelStateEntered', 'ParallelStateStarted', 'ParallelStateSucceeded', 'ParallelStateExited'],
  Map: ['MapStateEntered', 'MapStateStarted', 'MapStateSucceeded', 'MapStateExited'],
  item: ['MapIterationStarted', 'MapIterationSucceeded'],
} as const

/** Of an execution besides those of its states. */
export const EXECUTION_EVENTS = HISTORY.execution.length
/** Of each item of a Map besides those of its states. */
export const ITEM_EVENTS = HISTORY.item.length

/** History events of a state that is entered once, calls what it calls once and goes on. */
export function stateEvents(state: State): number {
  if (state.Type !== 'Task') return HISTORY[state.Type].length
  return state.Resource === 'arn:aws:states:::lambda:invoke' ? HISTORY.invoked.length : HISTORY.awaited.length
}
