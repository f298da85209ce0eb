import type { BlockCall } from './block-call.ts'
import type { Claimed } from './claim-attempt.ts'
import { dispatchBlock } from './dispatch-block.ts'
import type { AttemptEnd } from './end-attempt.ts'
import { failureOf } from './failure-of.ts'
import { judgeProduced } from './judge-produced.ts'
import { type CacheQuestion, fromKept } from './kept-result.ts'
import { takeUntold } from './settle-meter.ts'
import { watchAttempt } from './watch-attempt.ts'

interface AttemptWork extends Omit<CacheQuestion, 'attempt'> {
  readonly signal: AbortSignal | undefined
}

/** One claimed attempt: a kept result, or dispatch under watch, contract, post-gates. Every fault becomes a value; it never throws but for the host's own end. */
export async function runAttempt(call: BlockCall, claimed: Claimed, work: AttemptWork): Promise<AttemptEnd> {
  const { world, block } = call
  const { attempt, holder, lease } = claimed
  const started = world.clock.now()
  const timeout_ms = Math.min(block.timeout_ms, world.settings.safety.max_block_ms)
  try {
    const kept = await fromKept(call, { ...work, attempt })
    if (kept !== undefined) return kept
    const produced = await watchAttempt(call, { holder, timeout_ms, signal: work.signal }, (signal) =>
      dispatchBlock(call, { attempt, values: work.values, feedback: work.feedback, signal }),
    )
    // Its gates may ask the same provider.
    await lease.end()
    // What a model used is told by block:output.
    if (block.mode === 'ai') takeUntold(call.meter)
    return await judgeProduced(call, attempt, work.values, produced, Math.max(0, world.clock.now() - started))
  } catch (error) {
    if (work.signal?.aborted === true) throw error
    return { attempt, verdicts: [], gate_events: [], failure: failureOf(call, error) }
  } finally {
    await lease.end()
  }
}
