import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import { readTriple } from '../../shared/graph/entity.ts'
import { changeHandler } from '../http-handler.ts'
import { itemResults, writeGraph } from './write-graph.ts'

/** Each triple is judged by itself; those of one subject that are right are written together or not at all. */
export const handler = changeHandler({
  name: 'put-triples',
  schema: GRAPH_ROUTES['put-triples'],
  run: async ({ body, principal: { tenant } }, world) => {
    const read = body.triples.map(readTriple)
    const triples = read.flatMap(({ item }) => item ?? [])
    const written = await writeGraph(world, tenant, triples, () => world.graph.addTriples(tenant, triples))
    const bySubject = new Map(written.map((outcome) => [outcome.entity_id, outcome]))
    const outcomes = triples.flatMap(({ subject }) => bySubject.get(subject) ?? [])
    return { json: { results: itemResults('triple', read, outcomes) } }
  },
})
