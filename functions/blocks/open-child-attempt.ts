import { PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { BlockCall } from './block-call.ts'
import { opensChild } from './child-run.ts'
import { type OpenAttempt, openAttempt } from './open-attempt.ts'
import { retryBlock } from './retry-block.ts'

/** An attempt that was claimed with its child is never lost: whoever comes next goes on with it. */
export async function openChildAttempt(call: BlockCall): Promise<OpenAttempt & { readonly claimed: boolean }> {
  const { attempt, phase } = readOrdinal(call.lane ?? 0)
  const goesOn = call.resumed !== undefined
  if (!goesOn && call.lane !== undefined && phase !== PHASE.retrying && opensChild(call, attempt)) {
    return { attempt, lane: call.lane, claimed: true }
  }
  const open = await openAttempt(call)
  if (open === 'lost_for_good') throw retryBlock(call)
  return { ...open, claimed: false }
}
