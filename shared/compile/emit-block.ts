import type { Block } from '../dag/dag.ts'
import type { State } from './asl.ts'
import { awaitToken, callFunction } from './function-task.ts'

/** What the compiler needs to know of a block. */
export type CompiledBlock = Pick<Block, 'id' | 'upstream'> & {
  readonly approval?: { readonly timeout_sec: number }
}

/** Where a state leads: onward to another one or out of its branch. */
export type Onward = { readonly Next: string } | { readonly End: true }

/** The function's own time-out is 900 s: it is seen as such, this one is for a call that never comes back. */
const BLOCK_TIMEOUT_SEC = 930
/** The store expires the approval itself; the machine's own time-out only catches what sweep missed. */
const APPROVAL_GRACE_SEC = 300

/** The first state of a block: it asks before it runs. */
export function entryOfBlock({ id, approval }: CompiledBlock): string {
  return approval === undefined ? id : `_approve_${id}`
}

/**
 * The states of one block (design decisions, "Block state, exactly"): the block itself; `_retry_<id>`, a wait the
 * function asks for by raising RetryBlock; `_approve_<id>` where a person decides first. `joins` are the joins it
 * signals when it has ended.
 */
export function emitBlock(block: CompiledBlock, joins: readonly string[], onward: Onward): Record<string, State> {
  const { id } = block
  return {
    ...emitApproval(block),
    [id]: {
      ...callFunction('run-block', { block: id, joins }),
      Catch: [{ ErrorEquals: ['RetryBlock'], Next: `_retry_${id}`, Output: RETRY_SIGNAL }],
      TimeoutSeconds: BLOCK_TIMEOUT_SEC,
      Output: '{% $states.result.Payload %}',
      ...onward,
    },
    [`_retry_${id}`]: { Type: 'Wait', Seconds: '{% $states.input.s %}', Next: entryOfBlock(block) },
  }
}

/** RetryBlock's message, `{"s": seconds}`: Lambda wraps the error in JSON, the message is JSON itself. */
const RETRY_SIGNAL = '{% $parse($parse($states.errorOutput.Cause).errorMessage) %}'

function emitApproval({ id, approval }: CompiledBlock): Record<string, State> {
  if (approval === undefined) return {}
  return {
    [`_approve_${id}`]: {
      ...awaitToken('request-approval', { block: id }),
      TimeoutSeconds: approval.timeout_sec + APPROVAL_GRACE_SEC,
      Catch: [{ ErrorEquals: ['States.Timeout'], Next: id }],
      Next: id,
    },
  }
}
