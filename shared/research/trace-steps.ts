import type { RouteAction } from './route-action.ts'
import type { DecompTrace } from './search-result.ts'
import type { SubQuery } from './sub-query.ts'

/** What a chain did, as its stages recorded it. */
export interface ChainSteps {
  /** The router's first decision; absent where no router ran. */
  readonly first_action?: RouteAction
  /** Those that really ran, of all rounds. */
  readonly sub_queries: readonly SubQuery[]
  readonly seed_entities: readonly string[]
  readonly retighten_rounds: number
}

/** The trace of a result; none where synthesize_directly was the first and only step. */
export function traceSteps(steps: ChainSteps): DecompTrace | undefined {
  const { first_action, sub_queries, seed_entities, retighten_rounds } = steps
  if (first_action === 'synthesize_directly') return undefined
  return {
    ...(first_action === undefined ? {} : { router_action: first_action }),
    sub_queries: sub_queries.map((query) => ({ ...query })),
    seed_entities: [...seed_entities],
    retighten_rounds,
  }
}
