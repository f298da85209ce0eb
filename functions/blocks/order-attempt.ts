import { childOf } from '../../shared/approvals/binding.ts'
import { opensChild as isParent } from '../../shared/dag/opens-child.ts'
import { Fault } from '../../shared/errors.ts'
import { bindNow } from '../approvals/decision-binding.ts'
import { orderQuestion } from '../research/order-question.ts'
import { type ChildOrder, orderChild } from '../runs/order-child.ts'
import type { BlockCall } from './block-call.ts'
import { reserveOf } from './child-caps.ts'
import { opensChild } from './child-run.ts'
import type { Failure } from './end-attempt.ts'
import { failureOf } from './failure-of.ts'
import { type PreparedAttempt, prepareAttempt } from './prepare-attempt.ts'
import { shortText } from './short-text.ts'

/** Inputs and pre-gates of an attempt whose work is a child run, and what that starts with; what is wrong with any is its failure. */
export async function orderAttempt(
  call: BlockCall,
  attempt: number,
): Promise<PreparedAttempt & { readonly order?: ChildOrder }> {
  const { taken, ...ready } = await prepareAttempt(call, attempt)
  if (ready.failure !== undefined || ready.unwanted === true || !isParent(call.block.mode)) return ready
  // What a child was opened for is the child's.
  if (taken !== undefined && !opensChild(call, attempt)) return { ...ready, taken }
  try {
    const order = await orderOf(call, attempt, ready)
    return { ...ready, order, reserve: reserveOf(order.caps ?? {}), ...(await bindChild(call, ready)) }
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return { ...ready, failure: withIssue(failureOf(call, error), error) }
  }
}

function orderOf(call: BlockCall, attempt: number, ready: PreparedAttempt): Promise<ChildOrder> {
  const { block } = call
  if (block.mode === 'dag') return orderChild(call, block, attempt, ready)
  if (block.mode === 'research') return orderQuestion(call, block, attempt, ready.values)
  throw new Fault('Bug', 'no_child', `Block "${block.id}" has no child run to open.`)
}

/**
 * What questions of the child bind of this run: where it, or a run below it, may ask, and where what it does stands behind
 * a decision itself, so that a question of its own shows that, and nothing below it changes either.
 */
async function bindChild(
  call: BlockCall,
  { decisions = [] }: PreparedAttempt,
): Promise<{ readonly binding_ref?: string }> {
  const { meta, block } = call
  const isBound = decisions.length > 0 || meta.parent?.binding_ref !== undefined
  if (!isBound && childOf(block, meta.children)?.asks !== true) return {}
  return { binding_ref: (await bindNow(call)).binding_ref }
}

/** A reason is one text: of a child's document or values that are wrong in several places it tells the first. */
function withIssue(failure: Failure, error: unknown): Failure {
  const [first] = error instanceof Fault ? error.issues : []
  if (first === undefined || failure.reason.includes(first.message)) return failure
  return { ...failure, reason: shortText(`${failure.reason} First: ${first.path}: ${first.message}`) }
}
