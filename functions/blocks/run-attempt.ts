import { canonicalJson, type Json } from '../../shared/canonical.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import type { BlockCall } from './block-call.ts'
import type { Claimed } from './claim-attempt.ts'
import { dispatchBlock, type Produced } from './dispatch-block.ts'
import type { AttemptEnd } from './end-attempt.ts'
import { failureOf } from './failure-of.ts'
import { gateFailure } from './gate-failure.ts'
import { judgeBlock } from './judge-block.ts'
import { shortText } from './short-text.ts'
import { watchAttempt } from './watch-attempt.ts'

interface AttemptWork {
  readonly values: Readonly<Record<string, Json>>
  readonly feedback: readonly string[]
  readonly signal: AbortSignal | undefined
}

/** One claimed attempt: dispatch under watch, contract, post-gates. Every fault becomes a value; it never throws but for the host's own end. */
export async function runAttempt(call: BlockCall, claimed: Claimed, work: AttemptWork): Promise<AttemptEnd> {
  const { world, block } = call
  const { attempt, holder } = claimed
  const started = world.clock.now()
  const timeout_ms = Math.min(block.timeout_ms, world.settings.safety.max_block_ms)
  try {
    const produced = await watchAttempt(call, { holder, timeout_ms, signal: work.signal }, (signal) =>
      dispatchBlock(call, { attempt, values: work.values, feedback: work.feedback, signal }),
    )
    return await judgeProduced(call, attempt, work.values, produced, Math.max(0, world.clock.now() - started))
  } catch (error) {
    if (work.signal?.aborted === true) throw error
    return { attempt, verdicts: [], gate_events: [], failure: failureOf(call, error) }
  }
}

/** What an attempt produced, against its contract and its post-gates. */
export async function judgeProduced(
  call: BlockCall,
  attempt: number,
  inputs: AttemptWork['values'],
  produced: Produced,
  latency_ms: number,
): Promise<AttemptEnd> {
  const output = { outputs: await storeValues(call, produced.values), ...produced.facts, latency_ms }
  if (produced.problems.length > 0) {
    const reason = shortText(`output contract: ${produced.problems.join('; ')}`)
    const failure = { code: 'output_contract', reason, retry: true, feedback: produced.problems }
    return { attempt, output, verdicts: [], gate_events: [], failure }
  }
  const usd = produced.facts.usd_micros
  const measured = { cost_usd: usd === undefined ? null : usd / 1_000_000, latency_ms }
  const judged = await judgeBlock(call, 'post', attempt, { inputs, outputs: produced.values, measured })
  const end = { attempt, output, verdicts: judged.verdicts, gate_events: judged.events }
  return judged.composed.passed ? end : { ...end, failure: gateFailure('post', judged) }
}

async function storeValues(
  { world, run }: BlockCall,
  values: Produced['values'],
): Promise<Record<string, StoredValue>> {
  const stored: Record<string, StoredValue> = {}
  for (const [port, value] of Object.entries(values)) {
    stored[port] = await world.objects.put(run.tenant, Buffer.from(canonicalJson(value)))
  }
  return stored
}
