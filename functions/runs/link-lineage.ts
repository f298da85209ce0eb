import type { RunLink } from '../../shared/runs/lineage.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/** Notes a linked run with the runs of its lineage; repeated, it stays as it was noted first. */
export async function linkLineage({ runs }: Pick<World, 'runs'>, meta: Meta): Promise<void> {
  const { tenant, run_id, root, created_at: at } = meta
  const [kind, from] = linkOf(meta)
  if (root === undefined || from === undefined) return
  await runs.linkRun(tenant, root, { run_id, from, kind, at })
}

/** What it is made from, of which it may also go on from another run. */
function linkOf({ pivots, iterates, retry_of, continues }: Meta): readonly [RunLink['kind'], string | undefined] {
  if (pivots !== undefined) return ['pivot', pivots.run_id]
  if (iterates !== undefined) return ['iterate', iterates.run_id]
  return retry_of === undefined ? ['continue', continues] : ['retry', retry_of.run_id]
}
