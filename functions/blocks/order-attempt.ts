import { Fault } from '../../shared/errors.ts'
import { type ChildOrder, orderChild } from '../runs/order-child.ts'
import type { BlockCall } from './block-call.ts'
import { failureOf } from './failure-of.ts'
import { type PreparedAttempt, prepareAttempt } from './prepare-attempt.ts'

/** Inputs and pre-gates of a `mode: dag` attempt, and what its child starts with; what is wrong with any is its failure. */
export async function orderAttempt(
  call: BlockCall,
  attempt: number,
): Promise<PreparedAttempt & { readonly order?: ChildOrder }> {
  const ready = await prepareAttempt(call, attempt)
  if (ready.failure !== undefined || ready.unwanted === true || call.block.mode !== 'dag') return ready
  try {
    return { ...ready, order: await orderChild(call, call.block, attempt, ready.values) }
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return { ...ready, failure: failureOf(call, error) }
  }
}
