import { ENTITY_LIMITS } from '../../shared/graph/entity.ts'
import type { Triple } from '../../shared/graph/triple.ts'
import type { ChainState } from '../../shared/research/chain-state.ts'
import { loopEntityId } from '../../shared/research/kickoff-triples.ts'
import { RESEARCH_PREDICATES } from '../../shared/research/research-predicates.ts'
import { readChain } from './read-chain.ts'
import type { StageAnswer } from './recorded-stage.ts'
import type { StageCall } from './stage-call.ts'

/**
 * Writes what models said to the loop entity: the router's reasons, and where the synthesis is. They are opaque: no rule
 * reads them. The events are what counts, so a graph that is away does not keep the answer back.
 */
export async function tellLoop({ world, run }: StageCall, { ref }: StageAnswer): Promise<void> {
  const { tenant, run_id } = run
  const triples = triplesOf(loopEntityId(tenant, run_id), await readChain(world, tenant, ref), ref)
  try {
    const outcomes = await world.graph.addTriples(tenant, triples)
    for (const told of outcomes) if (told.outcome === 'failed') throw new Error(told.message)
  } catch (error) {
    world.log.error('a loop entity was not told of its answer', { run_id, error: String(error) })
  }
}

function triplesOf(subject: string, { stages }: ChainState, ref: string): readonly Triple[] {
  const common = { subject, confidence: 1, rule_opaque: true }
  return stages.flatMap(({ stage, at: timestamp, rationale }): readonly Triple[] => {
    if (stage === 'synthesize_answer') {
      return [{ ...common, predicate: RESEARCH_PREDICATES.synthesis, object: ref, source: stage, timestamp }]
    }
    if (stage !== 'route_search' || rationale === undefined || rationale.trim() === '') return []
    const object = rationale.slice(0, ENTITY_LIMITS.object_characters).toWellFormed()
    return [{ ...common, predicate: RESEARCH_PREDICATES.route_rationale, object, source: stage, timestamp }]
  })
}
