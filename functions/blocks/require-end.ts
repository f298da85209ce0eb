import { approvalId } from '../../shared/runs/ids.ts'
import { workingLeg } from '../../shared/runs/legs.ts'
import { ordinal, PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockCall } from './block-call.ts'
import { laneHead } from './own-lane.ts'
import type { PreparedAttempt } from './prepare-attempt.ts'
import { recordEvents } from './record-events.ts'
import { retryBlock } from './retry-block.ts'
import { settleMeter } from './settle-meter.ts'
import { nextAnswered } from './steps-left.ts'

/**
 * A block nobody has decided on goes back to be asked about, unless it is over before its dispatch: it fails as it is, or
 * an earlier result, approved then, stands in for its work. What was waived or judged of an attempt that goes on is told
 * first, so that nobody judges it again.
 */
export async function requireEnd(call: BlockCall, { failure, taken, pre }: PreparedAttempt): Promise<void> {
  if (isAskedNow(call)) throw retryBlock(call)
  if (failure !== undefined || taken !== undefined) return
  const { lane, resumed, world, meter } = call
  if (resumed !== undefined && lane !== undefined && pre.events.length > 0) {
    const step = { ...readOrdinal(lane), leg: workingLeg(lane), phase: nextAnswered(lane) }
    const last = ordinal({ ...step, phase: PHASE.claimed - 1 })
    const at = new Date(world.clock.now()).toISOString()
    const final = { ...laneHead(call), ordinal: last, guard: { below: last }, at }
    await recordEvents(world, step, pre.events, final, settleMeter(meter))
  }
  throw retryBlock(call)
}

/** Gates held when people were asked, whatever a judge says now: their answer is waited for. */
function isAskedNow({ head, run, block, epoch }: BlockCall): boolean {
  return head.approvals[approvalId(run.run_id, block.index, epoch)]?.status === 'pending'
}
