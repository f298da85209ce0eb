import type { Iteration } from '../approvals/read-decision.ts'
import { iterateRun } from '../runs/iterate-run.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportRecorded } from './block-report.ts'
import { refuseBlock } from './without-attempt.ts'

/** A person wants another run in place of this one. Where that cannot be, their rejection is a failure that says so. */
export async function iterateBlock(call: BlockCall, iteration: Iteration): Promise<BlockReport> {
  const why = await iterateRun(call, iteration)
  if (why === undefined) return reportRecorded(call)
  const { code, reason } = iteration.refusal
  return refuseBlock(call, { code, reason: `${reason} (${why})` })
}
