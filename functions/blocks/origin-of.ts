import type { EventData } from '../../shared/runs/event.ts'
import type { OutputOrigin } from '../../shared/runs/run-items.ts'

/** What a projection keeps of a block:output beside its values. */
export function originOf(output: EventData<'block:output'>): OutputOrigin {
  const { provider, model, params_hash, prompt_hash, finish_reason, raw_ref } = output
  const raw = raw_ref === undefined ? {} : { raw_ref }
  return { provider, model, params_hash, prompt_hash, finish_reason, ...raw }
}
