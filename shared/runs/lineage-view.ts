import type { RunLink } from './lineage.ts'
import type { RunFold } from './run-fold.ts'
import type { Meta } from './run-store.ts'

/** The place of a run among linked runs, as GET run shows it. */
export interface LineageView {
  /** The run it goes on from. */
  readonly continues?: string
  /** The run whose results it took over where definition and inputs were the same. */
  readonly retry_of?: string
  /** The first run of its lineage, when it is a linked run. */
  readonly root?: string
  /** Runs that retry it, and that go on from it, oldest first. */
  readonly retried_by?: readonly string[]
  readonly continued_by?: readonly string[]
  /** The run whose place it took, since somebody rejected what that one asked. */
  readonly iterates?: string
  /** The run whose goal it tries again, and the run that tries its own goal again. */
  readonly pivots?: string
  readonly pivoted_by?: string
  /** The linked run that comes after it: it was iterated, or tries its goal again by itself. */
  readonly next_run?: string
}

export function viewLineage(
  { run_id, continues, retry_of, root, iterates, pivots }: Meta,
  { next_run }: Pick<RunFold, 'next_run'>,
  lineage: readonly RunLink[],
): LineageView {
  const after = (kind: RunLink['kind']) =>
    lineage.filter((link) => link.from === run_id && link.kind === kind).map((link) => link.run_id)
  const [retries, cycles] = [after('retry'), after('continue')]
  const [pivoted_by] = after('pivot')
  return {
    ...(continues === undefined ? {} : { continues }),
    ...(retry_of === undefined ? {} : { retry_of: retry_of.run_id }),
    ...(root === undefined ? {} : { root }),
    ...(retries.length === 0 ? {} : { retried_by: retries }),
    ...(cycles.length === 0 ? {} : { continued_by: cycles }),
    ...(iterates === undefined ? {} : { iterates: iterates.run_id }),
    ...(pivots === undefined ? {} : { pivots: pivots.run_id }),
    ...(pivoted_by === undefined ? {} : { pivoted_by }),
    ...(next_run === undefined ? {} : { next_run }),
  }
}
