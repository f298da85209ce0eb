import type { Triple } from '../graph/triple.ts'
import { type Intent, resolveBudgets } from './payloads/intent.ts'

/** The entity of one chain. A tenant may have dots, a segment may not. */
export function loopEntityId(tenant: string, run_id: string): string {
  return `${tenant.replaceAll('.', '-')}.sluice.research.chain.loop.${run_id}`
}

/** What chains write of themselves is no knowledge: it would answer questions with questions. */
export function isLoopEntity(entity_id: string): boolean {
  return entity_id.split('.').slice(1, 5).join('.') === 'sluice.research.chain.loop'
}

/**
 * What is written, in one write, before the machine starts. research.requested and research.topic both say what the
 * caller asked: the first starts the chain, the second stays when the topic is retightened. Bounds are the resolved
 * ones, as text.
 */
export function kickoffTriples(
  subject: string,
  intent: Intent,
  { at, parent_loop }: { readonly at: string; readonly parent_loop?: string },
): readonly Triple[] {
  const bounds = resolveBudgets(intent)
  const hints = Object.entries(intent.hints ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const said: readonly (readonly [string, string])[] = [
    [RESEARCH_PREDICATES.requested, intent.topic],
    [RESEARCH_PREDICATES.topic, intent.topic],
    ...hints.map(([key, value]) => [RESEARCH_PREDICATES.hint, `${key}=${value}`] as const),
    [RESEARCH_PREDICATES.budget_tokens, `${bounds.budget_tokens}`],
    [RESEARCH_PREDICATES.max_iterations, `${bounds.max_iterations}`],
    ...(parent_loop === undefined ? [] : [[RESEARCH_PREDICATES.parent_loop, parent_loop] as const]),
    [RESEARCH_PREDICATES.loop_role, PIPELINE_ROLE],
  ]
  return said.map(([predicate, object]) => ({
    subject,
    predicate,
    object,
    source: TRIPLE_SOURCE,
    timestamp: at,
    confidence: 1,
    rule_opaque: false,
  }))
}

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
