import { afterAnswer } from './after-answer.ts'
import { mayHaveItems } from './begun-items.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportRecorded } from './block-report.ts'
import { isOver } from './is-over.ts'
import { tryBlock } from './try-block.ts'

/** What is left to do for one item of a foreach block: nothing once it or its block has ended, else its next attempt. */
export async function advanceItem(call: BlockCall, signal: AbortSignal | undefined): Promise<BlockReport> {
  if (!mayHaveItems(call) || (await isOver(call))) return reportRecorded(call)
  return afterAnswer(call, (now) => tryBlock(now, false, signal))
}
