import { approvalId } from '../../shared/runs/ids.ts'
import type { BlockCall, BlockInputs } from '../blocks/block-call.ts'
import { storedInputs } from '../blocks/item-inputs.ts'
import { approvedEdits } from './approved-edits.ts'

/**
 * What a block works with that a person is, or was, asked about in this epoch: the inputs they were asked about, with
 * what the approver changed over them. A context that is patched meanwhile moves nothing. undefined: nobody was asked, or
 * the question is of an earlier version, which kept no inputs.
 */
export async function approvedInputs(call: BlockCall): Promise<BlockInputs | undefined> {
  const { world, run, block, head, epoch } = call
  if (block.approval === undefined) return undefined
  const id = approvalId(run.run_id, block.index, epoch)
  const approval = head.approvals[id]
  if (approval === undefined) return undefined
  const { inputs_ref, digest } = (await world.runs.approval(run, id)) ?? {}
  if (inputs_ref === undefined || digest !== approval.digest) return undefined
  const inputs = await storedInputs(call, inputs_ref)
  return { ...inputs, values: { ...inputs.values, ...(await approvedEdits(call)) } }
}
