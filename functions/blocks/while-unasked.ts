import type { LaneStands } from '../../shared/runs/append.ts'
import { approvalLane } from '../../shared/runs/ask-id.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import type { BlockCall } from './block-call.ts'

/**
 * What stands as long as nobody else asks a person about the dispatch of this block: what its gates said may differ from
 * call to call, and who was asked is not passed over. Empty where nobody is to be asked, or somebody was.
 */
export function whileUnasked({ run, block, item, head, epoch }: BlockCall): readonly LaneStands[] {
  if (block.approval === undefined || item !== undefined) return []
  const id = approvalId(run.run_id, block.index, epoch)
  if (head.approvals[id] !== undefined) return []
  const lane = approvalLane(id, block.index)
  return [{ lane, is: head.lanes[lane] ?? null }]
}

/** Lanes of HEAD that this needs to know. */
export function askedLanes({ run, block, item }: Pick<BlockCall, 'run' | 'block' | 'item'>): readonly string[] {
  if (block.approval === undefined || item !== undefined) return []
  return [approvalLane(approvalId(run.run_id, block.index, 0), block.index)]
}
