import type { RunState } from '../head.ts'
import type { ExecutionStatus } from '../machine.ts'
import { invariant } from './invariant.ts'

/** A run that was ended before its machine, or from outside of it, may find it in any end: a stop and a last state race. */
const FITS: Readonly<Record<RunState, readonly ExecutionStatus[]>> = {
  running: ['RUNNING'],
  completed: ['SUCCEEDED'],
  partial: ['SUCCEEDED'],
  blocked: ['SUCCEEDED'],
  iterated: ['ABORTED', 'FAILED', 'SUCCEEDED', 'TIMED_OUT'],
  failed: ['FAILED', 'TIMED_OUT', 'ABORTED'],
  cancelled: ['ABORTED', 'FAILED', 'SUCCEEDED', 'TIMED_OUT'],
}

export const executionEnd = invariant({
  n: 33,
  title: 'the execution of a run at rest ended as the run did, as long as its machine knows of it',
  of: 'store',
  needs: ['events', 'head', 'execution'],
  at_rest: true,
  check({ head, execution }) {
    if (execution === null || FITS[head.state].includes(execution.status)) return []
    return [`the run is ${head.state}, its execution ${execution.status}`]
  },
})
