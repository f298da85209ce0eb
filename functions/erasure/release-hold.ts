import { ERASURE_ROUTES, showMark } from '../../shared/api/erasure-routes.ts'
import { principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import { changeHandler } from '../http-handler.ts'
import { requireMarked, runsBelow } from './run-family.ts'

/** Those below first, so that a call that breaks off is made again. Who did it and why is in the log alone: nothing is left to hold. */
export const handler = changeHandler({
  name: 'release-hold',
  schema: ERASURE_ROUTES['release-hold'],
  run: async ({ params, principal, body }, world) => {
    const run = { tenant: principal.tenant, run_id: params.run_id }
    if ((await requireMarked(world, run))?.hold === undefined) {
      const message = `Cannot release run "${run.run_id}": nobody holds it. \`sluice run erasure ${run.run_id}\` shows what stands beside it.`
      throw new Fault('Conflict', 'run_not_held', message)
    }
    for (const below of await runsBelow(world, run)) await world.runs.releaseRun(below)
    await world.runs.releaseRun(run)
    world.log.info('a hold was lifted', { run_id: run.run_id, by: principalName(principal), reason: body.reason })
    return { json: showMark(run.run_id, await world.runs.mark(run)) }
  },
})
