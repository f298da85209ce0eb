import type { Json } from '../../shared/canonical.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import type { BlockCall, BlockInputs } from '../blocks/block-call.ts'
import { storedInputs } from '../blocks/item-inputs.ts'
import { approvedEdits } from './approved-edits.ts'

interface Approved {
  /** Undefined: nobody was asked, or the question is of an earlier version, which kept no inputs. */
  readonly inputs: BlockInputs | undefined
  readonly edits: Readonly<Record<string, Json>>
}

/**
 * What a block works with that a person is, or was, asked about in this epoch: the inputs they were asked about, with
 * what the approver changed over them. A context that is patched meanwhile moves nothing.
 */
export async function approvedInputs(call: BlockCall): Promise<Approved> {
  const { world, run, block, head, epoch } = call
  const id = approvalId(run.run_id, block.index, epoch)
  const approval = head.approvals[id]
  if (block.approval === undefined || approval === undefined) return { inputs: undefined, edits: {} }
  const edits = await approvedEdits(call)
  const { inputs_ref, digest } = (await world.runs.approval(run, id)) ?? {}
  if (inputs_ref === undefined || digest !== approval.digest) return { inputs: undefined, edits }
  const inputs = await storedInputs(call, inputs_ref)
  return { inputs: { ...inputs, values: { ...inputs.values, ...edits } }, edits }
}
