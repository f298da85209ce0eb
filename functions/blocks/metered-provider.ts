import { Fault } from '../../shared/errors.ts'
import { priceAt } from '../../shared/price-at.ts'
import type { Price } from '../../shared/prices.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/provider.ts'
import { NOTHING } from '../../shared/runs/amounts.ts'
import { costMicros, estimateCall } from '../../shared/runs/estimate-call.ts'
import { amountUsed } from '../../shared/runs/event-cost.ts'
import type { BlockCall } from './block-call.ts'
import { countUse } from './call-meter.ts'
import { reserveCall } from './reserve-call.ts'
import { wholeMicros, wholeTokens } from './whole-amounts.ts'

/** More than this no call costs. */
const MOST_USD = 1_000_000

/**
 * A configured provider whose calls are counted for this attempt and, where a cap holds, reserved before they are made.
 * The only way of a block and its gates to providers.
 */
export function meteredProvider(call: BlockCall, name: string): Provider | undefined {
  const provider = call.world.providers.get(name)
  if (provider === undefined) return undefined
  return { dispatch: (request) => dispatchMetered(call, { name, provider }, request) }
}

async function dispatchMetered(
  call: BlockCall,
  { name, provider }: { readonly name: string; readonly provider: Provider },
  request: DispatchRequest,
): Promise<DispatchAnswer> {
  const { meter, world } = call
  const price = priceAt(world.settings.providers, name, request.model)
  const estimate = estimateCall(request, price)
  const capped = await reserveCall(call, name, estimate)
  const flew = capped ? amountUsed(estimate) : NOTHING
  try {
    const answer = counted(await provider.dispatch(request))
    const charged = capped ? withPrice(answer, price) : answer
    countUse(meter, flew, usedBy(charged))
    return charged
  } catch (error) {
    countUse(meter, flew, capped && mayHaveUsed(error, request) ? estimate : undefined)
    throw error
  }
}

/** Counts are as a server sent them: what is no amount is none, and no price is an unknown one. */
function counted({ usd, ...answer }: DispatchAnswer): DispatchAnswer {
  const tokens = { tokens_in: wholeTokens(answer.tokens_in), tokens_out: wholeTokens(answer.tokens_out) }
  const isPriced = usd !== undefined && usd >= 0
  return { ...answer, ...tokens, ...(isPriced ? { usd: Math.min(usd, MOST_USD) } : {}) }
}

function usedBy({ tokens_in, tokens_out, usd }: DispatchAnswer) {
  return { tokens_in, tokens_out, ...(usd === undefined ? {} : { usd_micros: wholeMicros(usd) }) }
}

/** Under a cap no answer is free because its server did not count: what the table makes of the tokens stands for it. */
function withPrice(answer: DispatchAnswer, price: Price | undefined): DispatchAnswer {
  const micros = answer.usd === undefined ? costMicros(answer, price) : undefined
  return micros === undefined ? answer : { ...answer, usd: micros / 1_000_000 }
}

/** A call that was given up in the middle, or whose answer was no use: nobody knows what it used. */
function mayHaveUsed(error: unknown, { signal }: DispatchRequest): boolean {
  if (signal.aborted) return true
  return error instanceof Fault && (error.code === 'provider_timeout' || error.code === 'provider_invalid')
}
