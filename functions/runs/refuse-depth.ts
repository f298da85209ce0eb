import { Fault } from '../../shared/errors.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/** Runs a run may have above it: recursion ends here. */
const MAX_DEPTH = 5

/** LimitExceeded child_too_deep, before a child of this run is opened. `what` for people. */
export async function refuseDepth({ runs }: Pick<World, 'runs'>, meta: Meta, what: string): Promise<void> {
  let above: Meta | undefined = meta
  for (let depth = 1; above !== undefined; depth += 1) {
    if (depth > MAX_DEPTH) {
      const message = `Cannot start ${what}: this run has ${MAX_DEPTH} parents above it already, and no more are allowed. Does a DAG start itself? Give its block a "when" that ends it.`
      throw new Fault('LimitExceeded', 'child_too_deep', message)
    }
    const { tenant, parent }: Meta = above
    above = parent === undefined ? undefined : await runs.meta({ tenant, run_id: parent.run_id })
  }
}
