import type { Clock } from '../../../shared/world.ts'
import type { ExecutionEnd } from './journal.ts'

/** How an execution ends that was stopped. */
export function abortedBy(cause: string, clock: Clock): ExecutionEnd {
  return { status: 'ABORTED', cause, ended_at: clock.now() }
}
