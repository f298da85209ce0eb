import { SEARCH_ROUTES } from '../../shared/api/search-routes.ts'
import { requireQuery } from '../../shared/search-runs/query.ts'
import { findRuns } from '../../shared/search-runs/search.ts'
import { httpHandler } from '../http-handler.ts'
import { damagedRuns, summaryOf } from '../record/run-summary.ts'

export const handler = httpHandler({
  name: 'search-runs',
  schema: SEARCH_ROUTES['search-runs'],
  run: async ({ query: { q, limit, cursor }, principal: { tenant } }, { runs, clock }) => {
    const now = clock.now()
    const { found, damaged, next } = await findRuns(runs, tenant, requireQuery(q, now), { limit, before: cursor, now })
    const unread = found.flatMap(({ summary, facts }) => (summary === undefined ? [facts.run_id] : []))
    const read = unread.length === 0 ? { runs: [] } : await runs.summaries(tenant, unread)
    const byId = new Map(read.runs.map((one) => [one.run_id, one]))
    const shown = found.flatMap(({ summary, facts }) => summary ?? byId.get(facts.run_id) ?? [])
    const all = damagedRuns([...damaged, ...(read.damaged ?? [])])
    return { json: { runs: shown.map(summaryOf), ...all, next_cursor: next ?? null } }
  },
})
