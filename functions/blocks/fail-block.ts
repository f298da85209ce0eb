import { readOrdinal } from '../../shared/runs/ordinal.ts'
import { type BlockCall, readHead } from './block-call.ts'
import { type BlockReport, reportRecorded } from './block-report.ts'
import { failureOf } from './failure-of.ts'
import { refuseBlock } from './without-attempt.ts'

/** Records what nobody foresaw: the block fails where its lane stands now, and its machine goes on. */
export async function failBlock(call: BlockCall, error: unknown): Promise<BlockReport> {
  const { code, reason } = failureOf(call, error)
  const now = await readHead(call)
  if (now.head.state !== 'running' || readOrdinal(now.lane ?? 0).outcome !== undefined) return reportRecorded(now)
  return refuseBlock(now, { code, reason })
}
