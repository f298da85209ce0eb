import { RUN_ROUTES } from '../../shared/api/run-routes.ts'
import { shownState } from '../../shared/runs/head.ts'
import { httpHandler } from '../http-handler.ts'
import { requireRun } from '../require-run.ts'
import { cursorAheadFault } from './cursor-ahead.ts'

export const handler = httpHandler({
  name: 'replay-run',
  schema: RUN_ROUTES['replay-run'],
  run: async (call, world) => {
    const { since, limit } = call.query
    const { run, head } = await requireRun(world, call)
    if (since > head.seq) throw cursorAheadFault(since, head.seq)
    const events = await world.runs.events(run, since, limit)
    const nextSince = events.at(-1)?.seq ?? since
    return { json: { run_id: run.run_id, status: shownState(head), since, events: [...events], next_since: nextSince } }
  },
})
