import { begunItems } from './begun-items.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportBlock, reportPassed } from './block-report.ts'
import { endAttempt } from './end-attempt.ts'
import { judgeItems } from './judge-items.ts'
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
  return reportBlock(call, { ...recorded, attempt: begun.attempt, verdicts: end.verdicts })
}
