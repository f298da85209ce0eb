import { SEARCH_ROUTES } from '../../shared/api/search-routes.ts'
import { changeHandler } from '../http-handler.ts'
import { requireRun } from '../require-run.ts'
import { annotateRun } from '../runs/annotate-run.ts'

export const handler = changeHandler({
  name: 'add-note',
  schema: SEARCH_ROUTES['add-note'],
  run: async (call, world) => {
    const { run } = await requireRun(world, call)
    return { status: 201, json: await annotateRun(world, run, call.principal, call.body) }
  },
})
