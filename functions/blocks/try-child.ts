import { PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import { createRun } from '../runs/create-run.ts'
import type { ChildOrder } from '../runs/order-child.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportBlock, reportRecorded } from './block-report.ts'
import { claimAttempt, recordPre } from './claim-attempt.ts'
import { finishAttempt } from './finish-attempt.ts'
import type { OpenAttempt } from './open-attempt.ts'
import { openChildAttempt } from './open-child-attempt.ts'
import { orderAttempt } from './order-attempt.ts'
import type { PreparedAttempt } from './prepare-attempt.ts'
import { readOwnProjection } from './read-outputs.ts'
import { requireEnd } from './require-end.ts'
import { skipBlock } from './without-attempt.ts'

/**
 * The next attempt of a `mode: dag` block: its claim, which names the child run, then the child itself, which owes its
 * own start. State `running` in the report: the token now waits for the child. Repeated at any point it goes on: the
 * child's id follows from the attempt, a child that is there stays as it is and only gains the token.
 */
export async function tryChild(
  call: BlockCall,
  token: string,
  undecided: boolean,
  signal: AbortSignal | undefined,
): Promise<BlockReport> {
  const open = await openChildAttempt(call)
  call.world.log.note?.({ attempt: open.attempt, epoch: call.epoch })
  const ready = await orderAttempt(call, open.attempt)
  if (ready.unwanted === true) return skipBlock(call, { because: [], condition: 'when' })
  if (undecided) await requireEnd(call, ready)
  const child = ready.order?.run.run_id
  const claim = child === undefined ? ready : { ...ready, child }
  const begun = open.claimed ? await goOnWith(call, open, ready) : await claimAttempt(call, open, claim, signal)
  if (begun === 'ended') return reportRecorded(call)
  if (ready.order !== undefined) {
    const claimed = open.claimed ? await readOwnProjection(call, open.lane ?? 0) : ready
    return startChild(call, open.attempt, token, { ...ready.order, binding_ref: claimed?.binding_ref })
  }
  const bare = { attempt: open.attempt, verdicts: [], gate_events: [] }
  const end = ready.taken ?? (ready.failure === undefined ? bare : { ...bare, failure: ready.failure })
  return finishAttempt(call, end, { inputs_hash: ready.hash, inputs: ready, before: ready.pre.verdicts })
}

/** Who claimed may have died before the verdicts of the pre-gates were recorded: nothing completes without them. */
async function goOnWith(call: BlockCall, { attempt, lane }: OpenAttempt, ready: PreparedAttempt) {
  const { leg, phase } = readOrdinal(lane ?? 0)
  return leg === 0 && phase < PHASE.claimed + 9 ? recordPre(call, attempt, ready) : undefined
}

/** What its first questions bind was fixed with the claim, whoever opens it. */
type ClaimedOrder = ChildOrder & { readonly binding_ref: string | undefined }

async function startChild(
  call: BlockCall,
  attempt: number,
  token: string,
  { binding_ref, ...order }: ClaimedOrder,
): Promise<BlockReport> {
  const { world, run, block, epoch, head } = call
  const bound = binding_ref === undefined ? {} : { binding_ref }
  const link = { run_id: run.run_id, block_id: block.id, epoch, attempt, ...bound }
  const { created } = await createRun(call.storage.given, {
    ...order,
    parent: { link, token, deadline_at: head.deadline_at },
  })
  const { run_id } = order.run
  if (created) world.log.info('child run opened', { run_id, dag_name: order.dag.name, parent: run.run_id })
  await world.outbox.nudge(order.run)
  // The token first, then HEAD; a child that ends writes HEAD first, then reads the tokens: one sees the other.
  const child = await world.runs.head(order.run, [])
  const state = child?.state === 'running' ? 'running' : 'ready'
  return reportBlock(call, { state, attempt, seq: head.seq, verdicts: [] })
}
