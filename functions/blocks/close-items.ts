import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import { begunItems } from './begun-items.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportPassed } from './block-report.ts'
import { finishAttempt } from './finish-attempt.ts'
import { storedInputs } from './item-inputs.ts'
import { judgeItems } from './judge-items.ts'

/**
 * `_close_<id>` of a foreach block: outputs of all items as lists -> post-gates -> publish; the lanes of the items leave
 * HEAD with it. Items that never began leave nothing to close.
 */
export async function closeItems(call: BlockCall): Promise<BlockReport> {
  const begun = await begunItems(call)
  if (begun === undefined) return reportPassed(call)
  call.world.log.note?.({ attempt: begun.attempt, epoch: call.epoch })
  const { values } = await storedInputs(call, begun.inputs_ref)
  const end = await judgeItems(call, begun, values)
  return finishAttempt(call, end, { inputs_hash: sha256(canonicalJson(values)), before: [] })
}
