import { callsModel, priceAt } from '../../shared/price-at.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/provider.ts'
import { NOTHING } from '../../shared/runs/amounts.ts'
import { estimateCall } from '../../shared/runs/estimate-call.ts'
import { amountUsed } from '../../shared/runs/event-cost.ts'
import type { BlockCall } from './block-call.ts'
import { countUse } from './call-meter.ts'
import { callPlace } from './call-place.ts'
import { chargedAnswer, mayHaveUsed } from './charged-answer.ts'
import { reserveCall } from './reserve-call.ts'
import { tracedProvider } from './traced-provider.ts'
import { wholeMicros } from './whole-amounts.ts'

/**
 * A configured provider whose calls are counted for this attempt and, where a cap holds, reserved before they are made, but
 * for one that calls no model: it uses up nothing.
 * The only way of a block and its gates to providers.
 */
export function meteredProvider(call: BlockCall, name: string): Provider | undefined {
  const provider = tracedProvider(call.world, name, call.world.providers.get(name), () => callPlace(call))
  if (provider === undefined) return undefined
  return { dispatch: (request) => dispatchMetered(call, { name, provider }, request) }
}

async function dispatchMetered(
  call: BlockCall,
  { name, provider }: { readonly name: string; readonly provider: Provider },
  request: DispatchRequest,
): Promise<DispatchAnswer> {
  const { meter, world } = call
  const { settings } = world
  if (!callsModel(settings.providers, name)) return await provider.dispatch(request)
  const price = priceAt(settings, name, request.model)
  const estimate = estimateCall(request, price)
  const capped = await reserveCall(call, name, estimate)
  const flew = capped ? amountUsed(estimate) : NOTHING
  try {
    const charged = chargedAnswer(await provider.dispatch(request), { capped, price })
    countUse(meter, flew, usedBy(charged))
    return charged
  } catch (error) {
    countUse(meter, flew, capped && mayHaveUsed(error, request) ? estimate : undefined)
    throw error
  }
}

function usedBy({ tokens_in, tokens_out, usd }: DispatchAnswer) {
  return { tokens_in, tokens_out, ...(usd === undefined ? {} : { usd_micros: wholeMicros(usd) }) }
}
