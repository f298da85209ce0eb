import { BULK_ROUTES, showBulk } from '../../shared/api/bulk-routes.ts'
import { httpHandler } from '../http-handler.ts'

export const handler = httpHandler({
  name: 'list-bulks',
  schema: BULK_ROUTES['list-bulks'],
  run: async ({ principal: { tenant }, query: { limit, cursor } }, { runs }) => {
    const found = await runs.bulks(tenant, { limit: limit + 1, before: cursor })
    const shown = found.slice(0, limit)
    const next_cursor = found.length > limit ? (shown.at(-1)?.bulk_id ?? null) : null
    return { json: { bulks: shown.map(showBulk), next_cursor } }
  },
})
