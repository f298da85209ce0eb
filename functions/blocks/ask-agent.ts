import type { Agent } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { KeptCall } from '../../shared/kept-call.ts'
import type { DispatchAnswer } from '../../shared/provider.ts'
import type { BlockCall } from './block-call.ts'
import { callKey } from './call-key.ts'
import { recordingProvider } from './keep-answers.ts'
import { meteredProvider } from './metered-provider.ts'
import type { Dispatch } from './produced.ts'
import { renderText } from './render-text.ts'

/** One call of the provider; `repair` counts those of this attempt before it. */
export function askAgent(
  call: BlockCall,
  { provider: name, model, model_params, system }: Agent,
  {
    values,
    feedback,
    signal,
    attempt,
    prompt,
    repair,
    calls,
  }: Dispatch & { readonly prompt: string; readonly repair: number; readonly calls: KeptCall[] },
): Promise<DispatchAnswer> {
  const provider = recordingProvider(name, meteredProvider(call, name), calls)
  if (provider === undefined) throw unknownProvider(call, name)
  return provider.dispatch({
    ...(system === undefined ? {} : { system: renderText(call, system, values) }),
    prompt,
    model,
    params: model_params,
    inputs: values,
    output_schema: call.block.outputs,
    feedback,
    signal,
    idempotency_key: callKey(call, attempt, repair),
  })
}

function unknownProvider({ block, world }: BlockCall, name: string): Fault {
  const message = `Cannot dispatch block "${block.id}": provider "${name}" is not configured; configured are ${world.providers.names().join(', ')}. Add it under providers in sluice.yaml.`
  return new Fault('InvalidInput', 'unknown_provider', message)
}
