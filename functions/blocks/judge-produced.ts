import { canonicalJson, type Json } from '../../shared/canonical.ts'
import type { GateFacts } from '../../shared/gates/gate.ts'
import type { EventData, StoredValue } from '../../shared/runs/event.ts'
import type { BlockCall } from './block-call.ts'
import type { AttemptEnd } from './end-attempt.ts'
import { failureOf } from './failure-of.ts'
import { gateFailure, taskRefusal } from './gate-failure.ts'
import { gateEvent, type Judged, judgeBlock } from './judge-block.ts'
import { eventHead } from './own-lane.ts'
import type { Produced } from './produced.ts'
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
  const judged = await judgeBlock(call, 'post', attempt, {
    inputs,
    outputs: produced.values,
    ...answerFacts(call, produced.facts, latency_ms),
  })
  const end = { attempt, output, verdicts: judged.verdicts, gate_events: [...own, ...judged.events] }
  return { ...end, ...postFailure(call, judged) }
}

/** Why an attempt whose post-gates were judged is not completed by them. */
export function postFailure(call: BlockCall, judged: Judged): Pick<AttemptEnd, 'failure'> {
  if (judged.refusal !== undefined) return { failure: failureOf(call, judged.refusal) }
  return judged.composed.passed ? {} : { failure: gateFailure('post', judged) }
}

type Answered = Pick<EventData<'block:output'>, 'provider' | 'model' | 'finish_reason' | 'tokens_in' | 'tokens_out'> & {
  readonly usd_micros?: number | undefined
}

/** What the attempt used, and, where a model answered, which one and how it ended. */
export function answerFacts(
  { block }: BlockCall,
  { usd_micros: usd, tokens_in, tokens_out, provider, model, finish_reason }: Answered,
  latency_ms: number,
): Pick<GateFacts, 'measured' | 'answer'> {
  const cost_usd = usd === undefined ? null : usd / 1_000_000
  const measured = { cost_usd, latency_ms, tokens: tokens_in + tokens_out }
  return { measured, ...(block.mode === 'ai' ? { answer: { provider, model, finish_reason } } : {}) }
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
