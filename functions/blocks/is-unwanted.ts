import { holdsWhen } from '../../shared/runs/conditions.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import type { BlockCall, BlockInputs } from './block-call.ts'

/**
 * Whether the block's own `when` says no. It is asked before anything else of an epoch: a block that was ready, or a
 * person was asked about, is wanted.
 */
export function isUnwanted({ run, block, head, epoch, lane }: BlockCall, values: BlockInputs['values']): boolean {
  const isFirst = lane === undefined && head.approvals[approvalId(run.run_id, block.index, epoch)] === undefined
  return isFirst && !holdsWhen(block, values)
}
