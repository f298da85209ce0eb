import { CONTROL_ROUTES } from '../../shared/api/control-routes.ts'
import { type Principal, principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import type { StartHold } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'
import { activeRuns, stopRun } from '../runs/stop.ts'

/** Runs named among those that could not be stopped. */
const NAMED = 100

/**
 * Goes on past a run that cannot be stopped now, and names it: who asks again stops the rest. With `hold` nothing starts
 * from before the first of them is stopped until release-starts.
 */
export const handler = changeHandler({
  name: 'stop-all',
  schema: CONTROL_ROUTES['stop-all'],
  run: async ({ principal, body }, world) => {
    const hold = body.hold === true ? await holdStarts(world, principal, body.reason) : undefined
    let stopped = 0
    const left: { run_id: string; code: string }[] = []
    for (const run_id of await activeRuns(world, principal.tenant)) {
      const code = await stopOne(world, run_id, principal, body.reason)
      if (code === undefined) stopped += 1
      else if (code !== 'run_ended') left.push({ run_id, code })
    }
    const not_stopped = left.slice(0, NAMED)
    const held = hold === undefined ? {} : { hold }
    return { json: { status: 'cancelled' as const, stopped, left: left.length, not_stopped, ...held } }
  },
})

async function holdStarts({ runs, clock }: World, principal: Principal, reason?: string): Promise<StartHold> {
  const at = new Date(clock.now()).toISOString()
  const hold = { by: principalName(principal), at, ...(reason === undefined ? {} : { reason }) }
  await runs.holdStarts(principal.tenant, hold)
  return hold
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
