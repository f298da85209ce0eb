import type { Triple } from '../graph/triple.ts'
import type { Intent } from './intent.ts'
import { PIPELINE_ROLE, RESEARCH_PREDICATES, TRIPLE_SOURCE } from './research-predicates.ts'
import { resolveBudgets } from './resolve-budgets.ts'

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
