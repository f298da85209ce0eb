import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import { type BegunItems, begunItems } from './begun-items.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportBlock, reportPassed } from './block-report.ts'
import { type AttemptEnd, endAttempt } from './end-attempt.ts'
import { storedInputs } from './item-inputs.ts'
import { judgeItems } from './judge-items.ts'
import { keepResult } from './kept-result.ts'
import { whenNotDone } from './try-block.ts'

/**
 * `_close_<id>` of a foreach block: outputs of all items as lists -> post-gates -> publish; the lanes of the items leave
 * HEAD with it. Items that never began leave nothing to close.
 */
export async function closeItems(call: BlockCall): Promise<BlockReport> {
  const begun = await begunItems(call)
  if (begun === undefined) return reportPassed(call)
  const end = await judgeItems(call, begun)
  const recorded = await endAttempt(call, end)
  await whenNotDone(call, recorded, end.failure)
  if (recorded.state === 'completed') await keep(call, begun, end)
  return reportBlock(call, { ...recorded, attempt: begun.attempt, verdicts: end.verdicts })
}

/** Under the hash its block:started carries. */
async function keep(call: BlockCall, { inputs_ref }: BegunItems, end: AttemptEnd): Promise<void> {
  if (call.block.cache === undefined) return
  const { values } = await storedInputs(call, inputs_ref)
  await keepResult(call, sha256(canonicalJson(values)), end)
}
