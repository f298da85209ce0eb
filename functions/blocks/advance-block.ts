import { readDecision } from '../approvals/read-decision.ts'
import { afterAnswer } from './after-answer.ts'
import { awaitsBounce } from './awaits-bounce.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportPassed, reportRecorded } from './block-report.ts'
import { isOver } from './is-over.ts'
import { iterateBlock } from './iterate-block.ts'
import { wasStopped } from './was-stopped.ts'
import { whySkipped } from './why-skipped.ts'
import { refuseBlock, skipBlock, stopAgain } from './without-attempt.ts'

/**
 * What is left to do for a block: nothing, a skip, a person's refusal, what follows from an answer, or its work: `next`,
 * told whether a person still has to be asked.
 */
export async function advanceBlock(
  call: BlockCall,
  next: (call: BlockCall, undecided: boolean) => Promise<BlockReport>,
): Promise<BlockReport> {
  if (await isOver(call)) return reportRecorded(call)
  if (wasStopped(call)) return stopAgain(call)
  if (await awaitsBounce(call)) return reportPassed(call)
  const skip = whySkipped(call)
  if (skip !== undefined) return skipBlock(call, skip)
  const decision = await readDecision(call)
  if (decision.kind === 'iterate') return iterateBlock(call, decision)
  if (decision.kind === 'refused') return refuseBlock(call, decision)
  return afterAnswer(call, (now) => next(now, decision.kind === 'undecided'))
}
