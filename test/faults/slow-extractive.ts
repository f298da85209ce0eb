import { extractiveProvider } from '../../functions/providers/extractive.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import type { Sim } from './sim.ts'

/** The model of the research chain takes as long as one would. */
export function slowExtractive({ scheduler, random }: Pick<Sim, 'scheduler' | 'random'>): Provider {
  return {
    async dispatch(request) {
      await scheduler.delay(500 + random() ** 12 * 30_000, request.signal)
      return extractiveProvider.dispatch(request)
    },
  }
}
