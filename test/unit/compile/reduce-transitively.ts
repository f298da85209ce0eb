import { itemsOf, reducedRows, type Upstream } from '../../../shared/compile/rows.ts'

/** The reduction as lists again, which is what a document begins with. */
export function reduceTransitively(upstream: Upstream): Upstream {
  const rows = reducedRows(upstream)
  return upstream.map((_, v) => itemsOf(rows, v))
}
