import type { RunStore } from '../../../shared/runs/run-store.ts'
import type { TestPlace } from '../test-place.ts'
import type { Watch } from './random-budgets.ts'

/** 2.5 and 10 dollars a million tokens. */
export const PRICED = {
  providers: { paid: { type: 'openai-compatible', url: 'https://api.openai.com/v1' } },
  safety: { max_runs: 1_000, max_requests_per_min: 100_000 },
}

/** The place with this store, every append of which is watched. */
export function watched(place: TestPlace, store: RunStore, watch: Watch): TestPlace {
  const append: RunStore['append'] = async (given) => {
    const done = await store.append(given)
    await watch(store, given, done.ok)
    return done
  }
  Object.assign(place.place.world, { runs: { ...store, append } })
  return place
}
