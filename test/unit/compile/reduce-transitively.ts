import { itemsOf } from '../../../shared/compile/adjacency-rows.ts'
import type { Upstream } from '../../../shared/compile/topological-order.ts'
import { transitiveReduction } from '../../../shared/compile/transitive-reduction.ts'

/** The reduction as lists again, which is what a document begins with. */
export function reduceTransitively(upstream: Upstream): Upstream {
  const rows = transitiveReduction(upstream)
  return upstream.map((_, v) => itemsOf(rows, v))
}
