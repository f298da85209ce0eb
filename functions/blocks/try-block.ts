import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportBlock, reportRecorded } from './block-report.ts'
import { bounceFeedback } from './bounce-feedback.ts'
import { claimAttempt } from './claim-attempt.ts'
import { failFast } from './fail-fast.ts'
import { finishAttempt } from './finish-attempt.ts'
import { openAttempt } from './open-attempt.ts'
import { prepareAttempt } from './prepare-attempt.ts'
import { requireEnd } from './require-end.ts'
import { runAttempt } from './run-attempt.ts'
import { skipBlock } from './without-attempt.ts'

/**
 * The next attempt of a runnable block, from its claim to its record. `undecided`: a person still has to be asked, so
 * only a failing pre-gate or a result that was approved before may be recorded here; otherwise the machine goes back to
 * `_approve_<id>`.
 */
export async function tryBlock(
  call: BlockCall,
  undecided: boolean,
  signal: AbortSignal | undefined,
): Promise<BlockReport> {
  const open = await openAttempt(call)
  if (open === 'lost_for_good') return lostForGood(call)
  call.world.log.note?.({ attempt: open.attempt, epoch: call.epoch })
  const ready = await prepareAttempt(call, open.attempt)
  if (ready.unwanted === true) return skipBlock(call, { because: [], condition: 'when' })
  if (undecided) await requireEnd(call, ready)
  const feedback = [...(await bounceFeedback(call)), ...(open.failure?.feedback ?? [])]
  const claimed = await claimAttempt(call, open, ready, signal)
  if (claimed === 'ended') return reportRecorded(call)
  const work = { values: ready.values, inputs_hash: ready.hash, feedback, signal }
  const end =
    ready.failure === undefined
      ? (ready.taken ?? (await runAttempt(call, claimed, work)))
      : { attempt: open.attempt, verdicts: [], gate_events: [], failure: ready.failure }
  return finishAttempt(call, end, { inputs_hash: ready.hash, inputs: ready, before: ready.pre.verdicts })
}

/** What is left to do when a lost attempt was the last. */
export async function lostForGood(call: BlockCall): Promise<BlockReport> {
  const reason = 'its last attempt was lost'
  await failFast(call, { code: 'ATTEMPT_LOST', reason })
  return reportBlock(call, { state: 'failed', attempt: 0, seq: call.head.seq, verdicts: [] })
}
