import { SEARCH_ROUTES } from '../../shared/api/search-routes.ts'
import { httpHandler } from '../http-handler.ts'
import { requireRun } from '../require-run.ts'

export const handler = httpHandler({
  name: 'list-notes',
  schema: SEARCH_ROUTES['list-notes'],
  run: async (call, world) => {
    const { run } = await requireRun(world, call)
    return { json: { notes: [...(await world.runs.notes(run))] } }
  },
})
