import { approvalId } from '../../shared/runs/ids.ts'
import { PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import { awaitsBounce } from '../blocks/awaits-bounce.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { isStale } from '../blocks/is-stale.ts'
import { wasStopped } from '../blocks/was-stopped.ts'
import { whySkipped } from '../blocks/why-skipped.ts'

/** Whether a person is asked about the block now, as far as HEAD says; its pre-gates come after. */
export async function isAskable(call: BlockCall): Promise<boolean> {
  const { block, head, run, epoch } = call
  if (block.approval === undefined || head.state !== 'running' || isStale(call) || wasStopped(call)) return false
  const { outcome, phase } = readOrdinal(call.lane ?? 0)
  // Claimed: its attempt is at work, or was lost in the middle of recording why it is refused; `<id>` goes on with that.
  if (outcome !== undefined || (phase >= PHASE.claimed && phase < PHASE.retrying)) return false
  const known = head.approvals[approvalId(run.run_id, block.index, epoch)]
  if (known !== undefined) return known.status === 'pending'
  return whySkipped(call) === undefined && !(await awaitsBounce(call))
}
