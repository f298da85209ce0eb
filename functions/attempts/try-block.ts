import { type AttemptEnd, toFailure } from './attempt-outcome.ts'
import type { BlockCall } from './block-call.ts'
import { type BlockReport, reportBlock, reportRecorded } from './block-report.ts'
import { bounceFeedback } from './bounce.ts'
import { type Claimed, claimAttempt, findNextAttempt } from './claim.ts'
import { dispatchBlock } from './dispatch.ts'
import { failFast, finishAttempt, lastWhereLeftAlone, skipBlock } from './end.ts'
import { judgeProduced } from './judge-gates.ts'
import { takeUnreportedUse } from './meter.ts'
import { askUnlessOver, prepareAttempt } from './prepare.ts'
import { type CacheLookup, endFromCache } from './reuse.ts'
import { watchAttempt } from './watch.ts'

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
  const open = await findNextAttempt(call)
  if (open === 'lost_for_good') return endLostForGood(call)
  call.world.log.note?.({ attempt: open.attempt, epoch: call.epoch })
  const ready = await prepareAttempt(call, open.attempt)
  if (ready.unwanted === true) return skipBlock(call, { because: [], condition: 'when' })
  if (undecided) await askUnlessOver(call, ready)
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
export async function endLostForGood(call: BlockCall): Promise<BlockReport> {
  const reason = 'its last attempt was lost'
  await failFast(call, { code: 'ATTEMPT_LOST', reason })
  return reportBlock(call, { state: 'failed', attempt: 0, seq: call.head.seq, verdicts: [] })
}

interface AttemptWork extends Omit<CacheLookup, 'attempt'> {
  readonly signal: AbortSignal | undefined
}

/** One claimed attempt: a kept result, or dispatch under watch, contract, post-gates. Every fault becomes a value; it never throws but for the host's own end. */
async function runAttempt(call: BlockCall, claimed: Claimed, work: AttemptWork): Promise<AttemptEnd> {
  const { world, block } = call
  const { attempt, holder, lease } = claimed
  const started = world.clock.now()
  const timeout_ms = Math.min(block.timeout_ms, world.settings.safety.max_block_ms)
  try {
    const kept = await endFromCache(call, { ...work, attempt })
    if (kept !== undefined) return kept
    const produced = await watchAttempt(call, { holder, timeout_ms, signal: work.signal }, (signal) =>
      dispatchBlock(call, { attempt, values: work.values, feedback: work.feedback, signal }),
    )
    // Its gates may ask the same provider.
    await lease.end()
    // What a model used is told by block:output.
    if (block.mode === 'ai') takeUnreportedUse(call.meter)
    return await judgeProduced(call, attempt, work.values, produced, Math.max(0, world.clock.now() - started))
  } catch (error) {
    if (work.signal?.aborted === true) throw error
    return { attempt, verdicts: [], gate_events: [], failure: await lastWhereLeftAlone(call, toFailure(call, error)) }
  } finally {
    await lease.end()
  }
}
