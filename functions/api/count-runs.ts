import { SEARCH_ROUTES } from '../../shared/api/search-routes.ts'
import { countRuns, readCountBy } from '../../shared/search-runs/count.ts'
import { requireQuery } from '../../shared/search-runs/query.ts'
import { httpHandler } from '../http-handler.ts'

export const handler = httpHandler({
  name: 'count-runs',
  schema: SEARCH_ROUTES['count-runs'],
  run: async ({ query: { q, by, over, cursor }, principal: { tenant } }, { runs, clock }) => {
    const now = clock.now()
    const asked = { by: readCountBy(by), over_days: over === 'day', before: cursor, now }
    const { counts, counted, damaged, next } = await countRuns(runs, tenant, requireQuery(q, now), asked)
    const shown = counts.map(({ usd_micros, value = null, ...one }) => ({ value, ...one, usd: usd_micros / 1_000_000 }))
    return { json: { counts: shown, counted, damaged, next_cursor: next ?? null } }
  },
})
