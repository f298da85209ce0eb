import { priceAt } from '../../shared/price-at.ts'
import type { Price } from '../../shared/prices.ts'
import { type Estimate, estimateCall } from '../../shared/runs/estimate-call.ts'
import type { StageCall } from './stage-call.ts'

/** What a call of the place's model may use, and its price; undefined = nobody knows. */
export function estimateStage(
  { world }: StageCall,
  request: Parameters<typeof estimateCall>[0],
): { readonly estimate: Estimate; readonly price: Price | undefined } {
  const { provider, model } = world.settings.research
  const price = priceAt(world.settings.providers, provider, model)
  return { estimate: estimateCall(request, price), price }
}
