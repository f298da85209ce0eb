import type { TaskState } from '../../../shared/compile/asl.ts'
import { tryCallback, tryInvoke } from './call-function.ts'
import { EXECUTE, tryChild } from './child.ts'
import { guarded } from './guarded.ts'
import type { Outcome, Visit } from './visit.ts'

/** Resources of the two kinds of Task that call a function. */
export const INVOKE = 'arn:aws:states:::lambda:invoke'
export const INVOKE_AND_WAIT = 'arn:aws:states:::lambda:invoke.waitForTaskToken'

/** Invokes a function of ours, or runs another execution. */
export function runTask(state: TaskState, visit: Visit): Promise<Outcome> {
  const attempt = { [INVOKE]: tryInvoke, [EXECUTE]: tryChild }[state.Resource] ?? tryCallback
  return guarded(state, visit, () => attempt(state, visit))
}
