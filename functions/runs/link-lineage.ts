import type { Meta } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/** Notes a linked run with the runs of its lineage; repeated, it stays as it was noted first. */
export async function linkLineage({ runs }: Pick<World, 'runs'>, meta: Meta): Promise<void> {
  const { tenant, run_id, root, retry_of, continues, iterates, created_at: at } = meta
  const from = iterates?.run_id ?? retry_of?.run_id ?? continues
  if (root === undefined || from === undefined) return
  const kind = iterates !== undefined ? 'iterate' : retry_of !== undefined ? 'retry' : 'continue'
  await runs.linkRun(tenant, root, { run_id, from, kind, at })
}
