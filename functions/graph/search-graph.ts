import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import type { EntityFilter, SearchHit } from '../../shared/graph/search-index.ts'
import type { Candidate } from '../../shared/research/payloads/candidate-and-evidence.ts'
import { httpHandler } from '../http-handler.ts'

export const handler = httpHandler({
  name: 'search-graph',
  schema: GRAPH_ROUTES['search-graph'],
  run: async ({ query: { q, type, domain, limit }, principal: { tenant } }, world) => {
    const filter: EntityFilter = {
      ...(type === undefined ? {} : { type: type.toLowerCase() }),
      ...(domain === undefined ? {} : { domain }),
    }
    const { hits, as_of } = await world.search.search(tenant, { text: q, filter, limit })
    return { json: { hits: hits.map(candidateOf), ...(as_of === undefined ? {} : { as_of }) } }
  },
})

/** What no word was ranked by was found by what it is. */
function candidateOf({ entity_id, score, label, type, snippet_text }: SearchHit): Candidate {
  const how = score === 0 ? { tier: '0', source: 'search_graph' } : { tier: '1', source: 'bm25_index' }
  return {
    entity_id,
    ...(label === undefined ? {} : { label }),
    type,
    relevance: score,
    ...(snippet_text === undefined ? {} : { snippet_text }),
    ...how,
  }
}
