import { distinctQueries, type SubQuery } from './sub-query.ts'

/** Hops of a walk from seeds: a two-hop question is what walk_seeds is for. */
const DEPTH = 2
/** Hits of each sub-query. */
const LIMIT = 20

/** The sub-queries of walk_seeds: the topic as text runs whether or not a seed was resolved. */
export function walkQueries(topic: string, seeds: readonly string[]): readonly SubQuery[] {
  return distinctQueries([
    { kind: 'lexical', text: topic, limit: LIMIT },
    ...seeds.flatMap((entity_id): readonly SubQuery[] => [
      { kind: 'entity_state', entity_id },
      { kind: 'predicate_walk', entity_id, depth: DEPTH, limit: LIMIT },
    ]),
    ...(seeds.length === 0
      ? []
      : ([
          { kind: 'relation_walk', seeds, text: topic, limit: LIMIT },
          { kind: 'graph_diffusion', seeds, text: topic, limit: LIMIT },
        ] as const)),
  ])
}

/** What the next execute_subqueries runs after an assessment: its refined queries, and nothing else. */
export function refinedQueries(refined: readonly string[]): readonly SubQuery[] {
  return distinctQueries(refined.map((text) => ({ kind: 'lexical', text, limit: LIMIT })))
}
