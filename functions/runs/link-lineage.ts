import type { Meta } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/** Notes a linked run with the runs of its lineage; repeated, it stays as it was noted first. */
export async function linkLineage({ runs }: Pick<World, 'runs'>, meta: Meta): Promise<void> {
  const { tenant, run_id, root, retry_of, continues, created_at: at } = meta
  const from = retry_of?.run_id ?? continues
  if (root === undefined || from === undefined) return
  await runs.linkRun(tenant, root, { run_id, from, kind: retry_of === undefined ? 'continue' : 'retry', at })
}
