import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import type { EntityFilter, SearchHit } from '../../shared/graph/search-index.ts'
import { respell } from '../../shared/graph/spelling.ts'
import type { Candidate } from '../../shared/research/payloads/candidate-and-evidence.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { findNamed } from '../research/candidates.ts'
import { MOST_SEEDS } from '../research/hits.ts'

export const handler = httpHandler({
  name: 'search-graph',
  schema: GRAPH_ROUTES['search-graph'],
  run: async ({ query: { q, type, domain, ranking, limit }, principal: { tenant } }, world) => {
    const filter: EntityFilter = {
      ...(type === undefined ? {} : { type: type.toLowerCase() }),
      ...(domain === undefined ? {} : { domain }),
    }
    const { misspelt } = await world.search.spelling(tenant, q)
    const text = respell(q, misspelt)
    const named = ranking === 'linked' && text.trim() !== '' ? await namedIn(world, tenant, text) : undefined
    const { hits, as_of } = await world.search.search(tenant, {
      text,
      filter,
      limit,
      ...(named && { named, onward: true }),
    })
    const did_you_mean = misspelt.map(({ written, meant }) => ({ written, meant: [...meant] }))
    return {
      json: {
        hits: hits.map(candidateOf),
        ...(did_you_mean.length === 0 ? {} : { did_you_mean }),
        ...(as_of === undefined ? {} : { as_of }),
      },
    }
  },
})

/** Ids of what a text names; a walker starts there. */
async function namedIn(world: Pick<World, 'graph' | 'search'>, tenant: string, text: string) {
  const named = await findNamed(world, tenant, { text })
  return named.slice(0, MOST_SEEDS).map(({ evidence }) => evidence.entity_id)
}

/** What no word was ranked by was found by what it is, or by what it is linked to. */
function candidateOf({ entity_id, score, linked, label, type, snippet_text }: SearchHit): Candidate {
  const source = linked === true ? 'graph_diffusion' : 'bm25_index'
  const how = score === 0 ? { tier: '0', source: 'search_graph' } : { tier: '1', source }
  return {
    entity_id,
    ...(label === undefined ? {} : { label }),
    type,
    relevance: score,
    ...(snippet_text === undefined ? {} : { snippet_text }),
    ...how,
  }
}
