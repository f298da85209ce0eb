import { RUN_DATA_ROUTES } from '../../shared/api/run-data-routes.ts'
import { httpHandler } from '../http-handler.ts'
import { requireRun } from '../require-run.ts'

export const handler = httpHandler({
  name: 'get-context',
  schema: RUN_DATA_ROUTES['get-context'],
  run: async (call, world) => {
    const { run } = await requireRun(world, call)
    const { version, values } = (await world.runs.context(run)) ?? { version: 0, values: {} }
    return { json: { version, values: { ...values } } }
  },
})
