import { CONTROL_ROUTES } from '../../shared/api/control-routes.ts'
import { Fault } from '../../shared/errors.ts'
import type { Principal } from '../../shared/principal.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { stopRun } from '../runs/stop-run.ts'

const PAGE = 500

export const handler = httpHandler({
  name: 'stop-all',
  schema: CONTROL_ROUTES['stop-all'],
  run: async ({ principal, body }, world) => {
    const running = await runningRuns(world, principal.tenant)
    let stopped = 0
    for (const run_id of running) stopped += await stopOne(world, run_id, principal, body.reason)
    return { json: { status: 'cancelled' as const, stopped } }
  },
})

async function runningRuns(world: World, tenant: string): Promise<readonly string[]> {
  const found: string[] = []
  let after: string | undefined
  do {
    const page = await world.runs.list(tenant, {
      state: 'running',
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    })
    found.push(...page.runs.map(({ run_id }) => run_id))
    after = page.next
  } while (after !== undefined)
  return found
}

/** A run that ended by itself in the meantime is not counted. */
async function stopOne(world: World, run_id: string, principal: Principal, reason?: string): Promise<number> {
  try {
    await stopRun(world, { tenant: principal.tenant, run_id }, principal, reason)
    return 1
  } catch (error) {
    if (error instanceof Fault && error.name === 'Conflict') return 0
    throw error
  }
}
