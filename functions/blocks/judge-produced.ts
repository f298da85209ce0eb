import { canonicalJson, type Json } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import type { GateFacts } from '../../shared/gates/gate.ts'
import type { EventData, StoredValue } from '../../shared/runs/event.ts'
import { isOverQuota } from '../storage.ts'
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
  const outputs = produced.refusal ?? (await storeValues(call, produced.values))
  if (outputs instanceof Fault) {
    const output = { outputs: {}, ...produced.facts, latency_ms }
    return { attempt, output, verdicts: [], gate_events: own, failure: failureOf(call, outputs) }
  }
  const output = { outputs, ...produced.facts, latency_ms }
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

/** All of them or, where they do not fit together, the Fault that says so. */
async function storeValues(
  { world, storage, run }: BlockCall,
  values: Produced['values'],
): Promise<Record<string, StoredValue> | Fault> {
  const bodies = Object.entries(values).map(([port, value]) => [port, Buffer.from(canonicalJson(value))] as const)
  try {
    if (bodies.length > 0) await storage.requireRoom(bodies.reduce((sum, [, body]) => sum + body.byteLength, 0))
  } catch (error) {
    if (!isOverQuota(error)) throw error
    return error
  }
  const stored: Record<string, StoredValue> = {}
  for (const [port, body] of bodies) stored[port] = await world.objects.put(run.tenant, body)
  return stored
}
