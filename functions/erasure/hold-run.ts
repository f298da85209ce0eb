import { ERASURE_ROUTES, showMark } from '../../shared/api/erasure-routes.ts'
import { Fault } from '../../shared/errors.ts'
import { changeHandler } from '../http-handler.ts'
import { requireMarked, runsBelow, saidBy, tooLate } from './run-family.ts'

/** When the bodies of a run that is held are put again first. */
const KEEP_AFTER_MS = 60_000

/** The run first: whoever erases it looks there first too. Who held it before stays. */
export const handler = changeHandler({
  name: 'hold-run',
  schema: ERASURE_ROUTES['hold-run'],
  run: async ({ params, principal, body }, world) => {
    const run = { tenant: principal.tenant, run_id: params.run_id }
    await requireMarked(world, run)
    const now = world.clock.now()
    const hold = saidBy(principal, now, body.reason)
    const check_at = new Date(now + KEEP_AFTER_MS).toISOString()
    const held = await world.runs.holdRun(run, hold, check_at)
    if (held === 'erasing') throw tooLate(run, await world.runs.mark(run))
    if (held === 'unknown_run') {
      throw new Fault('NotFound', 'unknown_run', `Cannot hold run "${run.run_id}": there is no such run any more.`)
    }
    for (const below of await runsBelow(world, run)) await world.runs.holdRun(below, hold, check_at)
    return { json: showMark(run.run_id, await world.runs.mark(run)) }
  },
})
