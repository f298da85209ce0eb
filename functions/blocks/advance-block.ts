import { readOrdinal } from '../../shared/runs/ordinal.ts'
import { readDecision } from '../approvals/read-decision.ts'
import { endIfOverdue } from '../runs/end-if-overdue.ts'
import { type BlockCall, unmetUpstream } from './block-call.ts'
import { type BlockReport, reportRecorded } from './block-report.ts'
import { failFastRecorded } from './fail-fast.ts'
import { tryBlock } from './try-block.ts'
import { refuseBlock, skipBlock } from './without-attempt.ts'

/** What is left to do for a block: nothing, a skip, a person's refusal, or its next attempt. */
export async function advanceBlock(call: BlockCall, signal: AbortSignal | undefined): Promise<BlockReport> {
  if (call.head.state !== 'running') return reportRecorded(call)
  if (readOrdinal(call.lane ?? 0).outcome !== undefined) {
    await failFastRecorded(call)
    return reportRecorded(call)
  }
  if (await endIfOverdue(call)) return reportRecorded(call)
  const unmet = unmetUpstream(call)
  if (unmet.length > 0) return skipBlock(call, unmet)
  const decision = await readDecision(call)
  if (decision.kind === 'refused') return refuseBlock(call, decision)
  return tryBlock(call, decision.kind === 'undecided', signal)
}
