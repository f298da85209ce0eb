import { dispatchOnce, type StageRequest } from './dispatch-once.ts'
import { estimateStage } from './estimate-stage.ts'
import { meterCall } from './meter-call.ts'
import type { StageCall } from './stage-call.ts'

/** `skipped`: it was not made; `failed`: nobody answered. Both say why, as the middle of a sentence. */
export type ModelReply =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'skipped'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string }

/** Asks the place's model for the research chain, or the one the request names. `keep` tokens are left for the calls after it. */
export async function callModel(call: StageCall, request: StageRequest, keep: number): Promise<ModelReply> {
  const reply = await meterCall(call, {
    estimate: () => estimateStage(call, request, request.by).estimate,
    keep,
    once: (ms) => dispatchOnce(call, request, ms),
  })
  if (reply.kind === 'answer') return { kind: 'answer', text: reply.value.text }
  if (reply.kind === 'skipped') return reply
  // It answered what nobody can read: no answer either, and worth asking once more.
  if (reply.fault.code === 'provider_invalid') return { kind: 'answer', text: '' }
  return { kind: 'failed', why: `the model did not answer: ${reply.fault.code}` }
}
