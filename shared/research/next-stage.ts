import type { RouteAction } from './payloads/route-decision.ts'
import type { Stage } from './stages.ts'

/** What the chain counts; DecompTrace and SearchResult show them. */
interface ChainCounters {
  /** Retightens that were done. */
  readonly retighten_rounds: number
  /** Refine rounds that were done. */
  readonly iterations: number
}

/** Where to go on, the counters as they are then, and why it ends early where it does. */
interface NextStage {
  readonly stage: Stage
  readonly counters: ChainCounters
  readonly degraded_reason?: string
}

/** Retightens of one chain. */
export const MAX_RETIGHTENS = 2

/** A third retighten is not done: the answer is made of what there is. Only `action` decides. */
export function stageAfterRoute(action: RouteAction, counters: ChainCounters): NextStage {
  if (action === 'synthesize_directly') return { stage: 'synthesize_answer', counters }
  if (action !== 'retighten') return { stage: 'execute_subqueries', counters }
  if (counters.retighten_rounds >= MAX_RETIGHTENS) {
    const degraded_reason = `the question was retightened ${MAX_RETIGHTENS} times and still not routed`
    return { stage: 'synthesize_answer', counters, degraded_reason }
  }
  return { stage: 'nl_classify', counters: { ...counters, retighten_rounds: counters.retighten_rounds + 1 } }
}

interface RefineBounds {
  readonly max_iterations: number
  /** What would be asked next was asked before: another round would find the same. */
  readonly repeats: boolean
}

/**
 * Refines until sufficient, until `max_iterations` rounds were done, or until nothing new is asked for. Of what a model
 * says only `sufficient` and its queries decide.
 */
export function stageAfterAssessment(
  sufficient: boolean,
  counters: ChainCounters,
  { max_iterations, repeats }: RefineBounds,
): NextStage {
  if (sufficient) return { stage: 'synthesize_answer', counters }
  if (counters.iterations >= max_iterations) {
    const degraded_reason = `the evidence was still not sufficient after ${max_iterations} refine ${max_iterations === 1 ? 'round' : 'rounds'}`
    return { stage: 'synthesize_answer', counters, degraded_reason }
  }
  if (repeats) {
    const degraded_reason = 'the evidence was not sufficient, and what was asked for next had been searched for already'
    return { stage: 'synthesize_answer', counters, degraded_reason }
  }
  return { stage: 'execute_subqueries', counters: { ...counters, iterations: counters.iterations + 1 } }
}
