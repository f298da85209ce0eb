import { RUN_DATA_ROUTES } from '../../shared/api/run-data-routes.ts'
import { httpHandler } from '../http-handler.ts'
import { requireRun } from '../require-run.ts'

export const handler = httpHandler({
  name: 'list-artifacts',
  schema: RUN_DATA_ROUTES['list-artifacts'],
  run: async (call, world) => {
    const { run } = await requireRun(world, call)
    const items = await world.runs.artifacts(run)
    // Whose attempt wrote it is told by events.
    const artifacts = items.map(({ epoch: _, item: __, ...one }) => ({ ...one, href: hrefOf(run.run_id, one.name) }))
    return { json: { artifacts } }
  },
})

function hrefOf(runId: string, name: string): string {
  return `/api/dag/runs/${runId}/artifacts/${name.split('/').map(encodeURIComponent).join('/')}`
}
