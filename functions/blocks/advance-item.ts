import { readOrdinal } from '../../shared/runs/ordinal.ts'
import { endIfOverdue } from '../runs/end-if-overdue.ts'
import { afterAnswer } from './after-answer.ts'
import { mayHaveItems } from './begun-items.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportRecorded } from './block-report.ts'
import { failFastRecorded } from './fail-fast.ts'
import { isStale } from './is-stale.ts'
import { tryBlock } from './try-block.ts'

/** What is left to do for one item of a foreach block: nothing once it or its block has ended, else its next attempt. */
export async function advanceItem(call: BlockCall, signal: AbortSignal | undefined): Promise<BlockReport> {
  if (call.head.state !== 'running' || isStale(call) || !mayHaveItems(call)) return reportRecorded(call)
  if (readOrdinal(call.lane ?? 0).outcome !== undefined) {
    await failFastRecorded(call)
    return reportRecorded(call)
  }
  if (await endIfOverdue(call)) return reportRecorded(call)
  return afterAnswer(call, (now) => tryBlock(now, false, signal))
}
