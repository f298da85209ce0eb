import { readOrdinal } from '../../shared/runs/ordinal.ts'
import { endIfOverdue } from '../runs/end-if-overdue.ts'
import type { BlockCall } from './block-call.ts'
import { failFastRecorded } from './fail-fast.ts'
import { isStale } from './is-stale.ts'

/** Whether nothing is left to do: the run, this pass of the module, or the block or item itself has ended. */
export async function isOver(call: BlockCall): Promise<boolean> {
  if (call.head.state !== 'running' || isStale(call)) return true
  if (readOrdinal(call.lane ?? 0).outcome !== undefined) {
    await failFastRecorded(call)
    return true
  }
  return endIfOverdue(call)
}
