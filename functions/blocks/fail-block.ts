import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportRecorded } from './block-report.ts'
import { failureOf } from './failure-of.ts'
import { refuseBlock } from './without-attempt.ts'

/** Records what nobody foresaw: the block fails where its lane stands now, and its machine goes on. */
export async function failBlock(call: BlockCall, error: unknown): Promise<BlockReport> {
  const { code, reason } = failureOf(call, error)
  const head = await call.world.runs.head(call.run, [String(call.block.index)])
  const now: BlockCall = head === undefined ? call : { ...call, head, lane: head.lanes[String(call.block.index)] }
  if (now.head.state !== 'running' || readOrdinal(now.lane ?? 0).outcome !== undefined) return reportRecorded(now)
  return refuseBlock(now, { code, reason })
}
