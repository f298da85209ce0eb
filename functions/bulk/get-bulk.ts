import { BULK_ROUTES, showBulk, showBulkRun } from '../../shared/api/bulk-routes.ts'
import { httpHandler } from '../http-handler.ts'
import { requireBulk } from './bulk-rights.ts'

export const handler = httpHandler({
  name: 'get-bulk',
  schema: BULK_ROUTES['get-bulk'],
  run: async ({ params, principal: { tenant }, query: { limit, cursor = '0' } }, world) => {
    const key = { tenant, bulk_id: params.bulk_id }
    const bulk = await requireBulk(world, key)
    const from = Number(cursor)
    const runs = await world.runs.bulkRuns(key, from, limit)
    const next_cursor = from + limit < bulk.count ? String(from + limit) : null
    return { json: { bulk: showBulk(bulk), runs: runs.map(showBulkRun), next_cursor } }
  },
})
