import { callsModel, priceAt } from '../../shared/price-at.ts'
import type { Price } from '../../shared/prices.ts'
import { type Estimate, estimateCall } from '../../shared/runs/estimate-call.ts'
import type { StageCall } from './stage-call.ts'

/** What a call of a model may use (of the place's, where no other is named), and its price; undefined = nobody knows. */
export function estimateStage(
  { world }: StageCall,
  request: Parameters<typeof estimateCall>[0],
  by?: { readonly provider: string; readonly model: string },
): { readonly estimate: Estimate; readonly price: Price | undefined } {
  const { provider, model } = by ?? world.settings.research
  const price = priceAt(world.settings, provider, model)
  if (!callsModel(world.settings.providers, provider)) return { estimate: NO_USE, price }
  return { estimate: estimateCall(request, price), price }
}

const NO_USE: Estimate = { tokens_in: 0, tokens_out: 0, usd_micros: 0 }
