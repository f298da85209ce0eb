import { Fault } from '../../shared/errors.ts'
import { keptCall } from '../../shared/kept-call.ts'
import type { DispatchAnswer, DispatchRequest } from '../../shared/provider.ts'
import { chargedAnswer, mayHaveUsed } from '../blocks/charged-answer.ts'
import { wholeMicros } from '../blocks/whole-amounts.ts'
import { countUsed } from './count-used.ts'
import { estimateStage } from './estimate-stage.ts'
import type { StageCall } from './stage-call.ts'
import { stageProvider } from './stage-provider.ts'
import { watchCall } from './watch-call.ts'

/** One call of a model, as a stage asks it. */
export type StageRequest = Omit<DispatchRequest, 'signal' | 'model' | 'feedback'> & {
  /** Who is asked; absent = the model of the settings. */
  readonly by?: AskedModel
}

/** A model of a provider, by the settings. */
export interface AskedModel {
  readonly provider: string
  readonly model: string
}

/** Asks a model once and counts what that used: the answer, or the Fault of a provider; else it is thrown. */
export async function dispatchOnce(
  call: StageCall,
  { by, ...request }: StageRequest,
  ms: number,
): Promise<DispatchAnswer | Fault> {
  const { world, meter } = call
  const { provider: name, model } = by ?? world.settings.research
  const provider = stageProvider(call, name)
  if (provider === undefined) return unknownProvider(call, name)
  const { estimate, price } = estimateStage(call, request, by)
  let signal = new AbortController().signal
  try {
    const answer = await watchCall(call, ms, (aborted) => {
      signal = aborted
      return provider.dispatch({ ...request, model, feedback: [], signal })
    })
    const charged = chargedAnswer(answer, { capped: true, price })
    const { tokens_in, tokens_out, usd } = charged
    countUsed(call, { tokens_in, tokens_out, ...(usd === undefined ? {} : { usd_micros: wholeMicros(usd) }) })
    meter.calls.push(keptCall(name, { ...request, model }, answer))
    return charged
  } catch (error) {
    if (mayHaveUsed(error, { signal })) countUsed(call, estimate)
    if (error instanceof Fault && error.code.startsWith('provider_')) return error
    throw error
  }
}

function unknownProvider({ world }: StageCall, name: string): Fault {
  const message = `Cannot ask provider "${name}" for the research chain: it is not configured; configured are ${world.providers.names().join(', ')}. Set research.provider in sluice.yaml.`
  return new Fault('InvalidInput', 'unknown_provider', message)
}
