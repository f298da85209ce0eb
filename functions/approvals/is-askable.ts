import { approvalId } from '../../shared/runs/ids.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import { awaitsBounce } from '../blocks/awaits-bounce.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { isStale } from '../blocks/is-stale.ts'
import { wasStopped } from '../blocks/was-stopped.ts'
import { whySkipped } from '../blocks/why-skipped.ts'

/** Whether a person is asked about the block now, as far as HEAD says; its pre-gates come after. */
export async function isAskable(call: BlockCall): Promise<boolean> {
  const { block, head, run, epoch } = call
  if (block.approval === undefined || head.state !== 'running' || isStale(call) || wasStopped(call)) return false
  if (readOrdinal(call.lane ?? 0).outcome !== undefined) return false
  const known = head.approvals[approvalId(run.run_id, block.index, epoch)]
  if (known !== undefined) return known.status === 'pending'
  return whySkipped(call) === undefined && !(await awaitsBounce(call))
}
