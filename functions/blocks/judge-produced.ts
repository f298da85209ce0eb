import { canonicalJson, type Json } from '../../shared/canonical.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import type { BlockCall } from './block-call.ts'
import type { Produced } from './dispatch-block.ts'
import type { AttemptEnd } from './end-attempt.ts'
import { gateFailure, taskRefusal } from './gate-failure.ts'
import { gateEvent, judgeBlock } from './judge-block.ts'
import { eventHead } from './own-lane.ts'
import { shortText } from './short-text.ts'

/** What an attempt produced, against its contract and its post-gates. */
export async function judgeProduced(
  call: BlockCall,
  attempt: number,
  inputs: Readonly<Record<string, Json>>,
  produced: Produced,
  latency_ms: number,
): Promise<AttemptEnd> {
  const own = (produced.verdicts ?? []).map((verdict) => gateEvent(verdict, eventHead(call), attempt, 'pre'))
  const refused = taskRefusal(produced.verdicts ?? [])
  if (refused !== undefined) {
    return { attempt, verdicts: produced.verdicts ?? [], gate_events: own, failure: refused }
  }
  const output = { outputs: await storeValues(call, produced.values), ...produced.facts, latency_ms }
  if (produced.problems.length > 0) {
    const reason = shortText(`output contract: ${produced.problems.join('; ')}`)
    const failure = { code: 'output_contract', reason, retry: true, feedback: produced.problems }
    return { attempt, output, verdicts: [], gate_events: own, failure }
  }
  const usd = produced.facts.usd_micros
  const measured = { cost_usd: usd === undefined ? null : usd / 1_000_000, latency_ms }
  const judged = await judgeBlock(call, 'post', attempt, { inputs, outputs: produced.values, measured })
  const end = { attempt, output, verdicts: judged.verdicts, gate_events: [...own, ...judged.events] }
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
