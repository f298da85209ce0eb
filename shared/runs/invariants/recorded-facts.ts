import { canonicalJson, sha256 } from '../../canonical.ts'
import type { Block } from '../../dag/dag.ts'
import type { GateFacts } from '../../gates/gate.ts'
import type { EventData } from '../event.ts'
import type { Pass } from './passes.ts'
import { type RecordedParts, recordedInputs, recordedValues } from './recorded-inputs.ts'

/** What the gates of one attempt looked at. `unknown`: the context was patched since, or an object is gone (21 says so). */
export type RecordedFacts =
  | { readonly kind: 'known'; readonly pre: GateFacts; readonly post: GateFacts }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'wrong'; readonly problem: string }

export async function recordedFacts(
  run: RecordedParts,
  pass: Pass,
  block: Block,
  attempt: number | undefined,
): Promise<RecordedFacts> {
  const started = pass.events.find((event) => event.type === 'block:started' && event.attempt === attempt)
  if (started?.type !== 'block:started') return { kind: 'unknown' }
  const inputs = await recordedInputs(run, pass, block, started)
  if (inputs === undefined) return { kind: 'unknown' }
  if (sha256(canonicalJson(inputs)) !== started.data.inputs_hash) {
    if (run.context.version !== started.data.context_version || mayBeBound(run, started.seq)) return { kind: 'unknown' }
    return { kind: 'wrong', problem: `attempt ${attempt} did not work with these inputs (event ${started.seq})` }
  }
  const output = pass.events.find((event) => event.type === 'block:output' && event.attempt === attempt)
  const outputs = output?.type === 'block:output' ? await recordedValues(run, output.data.outputs) : {}
  if (outputs === undefined) return { kind: 'unknown' }
  const pre = { inputs, outputs: {}, measured: { cost_usd: null, latency_ms: null } }
  const post = { inputs, outputs, ...answerOf(block, output?.type === 'block:output' ? output.data : undefined) }
  return { kind: 'known', pre, post }
}

/** Behind or beside a question it works with the context that was bound, not with the present one: 39 compares those. */
function mayBeBound({ context, events }: RecordedParts, seq: number): boolean {
  if (context.version === 0) return false
  return events.some((event) => {
    if (event.seq >= seq) return false
    return (
      event.type === 'approval:requested' || (event.type === 'block:started' && event.data.binding_ref !== undefined)
    )
  })
}

function answerOf(block: Block, output: EventData<'block:output'> | undefined): Pick<GateFacts, 'measured' | 'answer'> {
  if (output === undefined) return { measured: { cost_usd: null, latency_ms: null } }
  const { usd_micros, latency_ms, tokens_in, tokens_out, provider, model, finish_reason } = output
  const cost_usd = usd_micros === undefined ? null : usd_micros / 1_000_000
  const measured = { cost_usd, latency_ms, tokens: tokens_in + tokens_out }
  return { measured, ...(block.mode === 'ai' ? { answer: { provider, model, finish_reason } } : {}) }
}
