/** Predicates of the triples the chain writes. */
export const RESEARCH_PREDICATES = {
  /** Its presence starts the chain; the object is the topic. */
  requested: 'research.requested',
  /** What the caller asked; a retighten never rewrites it. */
  topic: 'research.topic',
  /** One triple a hint, `key=value`. */
  hint: 'research.hint',
  budget_tokens: 'research.budget_tokens',
  max_iterations: 'research.max_iterations',
  parent_loop: 'research.parent_loop',
  loop_role: 'loop.role',
  /** Prose of a model, always opaque to rules. */
  route_rationale: 'research.route_rationale',
  /** Prose of a model, always opaque to rules. */
  synthesis: 'research.synthesis',
} as const

/** The object of loop.role. */
export const PIPELINE_ROLE = 'research_pipeline'

/** The source of the kick-off's triples; those of a stage have the stage's name. */
export const TRIPLE_SOURCE = 'agent-research-graph'
