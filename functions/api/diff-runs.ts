import { LINEAGE_ROUTES } from '../../shared/api/lineage-routes.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { viewRun } from '../../shared/views/run.ts'
import { type DiffedRun, diffRuns } from '../../shared/views/run-diff.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readLog } from '../record/run-log.ts'
import { requireRun } from '../require-run.ts'

/** Both runs are of the caller's tenant; each may still be running, then the answer is how they stand now. */
export const handler = httpHandler({
  name: 'diff-runs',
  schema: LINEAGE_ROUTES['diff-runs'],
  run: async ({ principal, params: { run_id, other_id } }, world) => {
    const a = await readSide(world, principal, run_id)
    const b = await readSide(world, principal, other_id)
    return { json: diffRuns(a, b) }
  },
})

async function readSide(world: World, principal: Principal, run_id: string): Promise<DiffedRun> {
  const { run, head } = await requireRun(world, { principal, params: { run_id } })
  const { meta, dag } = await readPinned(world, run)
  const log = await readLog(world, run)
  const { max_attempts, max_run_bytes } = world.settings.safety
  const view = viewRun({ meta, dag, head, ...log, now: world.clock.now(), max_attempts, max_run_bytes })
  return { view, context: (await world.runs.context(run))?.values ?? {} }
}
