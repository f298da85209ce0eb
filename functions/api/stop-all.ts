import { CONTROL_ROUTES } from '../../shared/api/control-routes.ts'
import { Fault } from '../../shared/errors.ts'
import type { Principal } from '../../shared/principal.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { stopRun } from '../runs/stop-run.ts'

const PAGE = 500
/** Runs named among those that could not be stopped. */
const NAMED = 100

/** Goes on past a run that cannot be stopped now, and names it: who asks again stops the rest. */
export const handler = httpHandler({
  name: 'stop-all',
  schema: CONTROL_ROUTES['stop-all'],
  run: async ({ principal, body }, world) => {
    const running = await runningRuns(world, principal.tenant)
    let stopped = 0
    const left: { run_id: string; code: string }[] = []
    for (const run_id of running) {
      const code = await stopOne(world, run_id, principal, body.reason)
      if (code === undefined) stopped += 1
      else if (code !== 'run_ended') left.push({ run_id, code })
    }
    const not_stopped = left.slice(0, NAMED)
    return { json: { status: 'cancelled' as const, stopped, left: left.length, not_stopped } }
  },
})

/** Callers' runs before their children: a parent whose child is stopped first would only start another. */
async function runningRuns(world: World, tenant: string): Promise<readonly string[]> {
  const roots: string[] = []
  const children: string[] = []
  let after: string | undefined
  do {
    const page = await world.runs.list(tenant, {
      state: 'running',
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    })
    for (const { run_id, parent } of page.runs) (parent === undefined ? roots : children).push(run_id)
    after = page.next
  } while (after !== undefined)
  return [...roots, ...children]
}

/** Why a run was not stopped: it ended by itself in the meantime (not counted), or something is away. */
async function stopOne(
  world: World,
  run_id: string,
  principal: Principal,
  reason?: string,
): Promise<string | undefined> {
  try {
    await stopRun(world, { tenant: principal.tenant, run_id }, principal, reason)
    return undefined
  } catch (error) {
    if (error instanceof Fault) return error.code
    world.log.error('a run could not be stopped', { run_id, error: String(error) })
    return 'unexpected'
  }
}
