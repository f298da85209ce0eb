import type { Block, Dag } from '../../shared/dag/dag.ts'

/** Parts of the language a page can tell apart, each with how a document is seen to use it. */
const FEATURES: readonly (readonly [name: string, uses: (dag: Dag) => boolean])[] = [
  ['ai', some(({ mode }) => mode === 'ai')],
  ['deterministic', some(({ mode }) => mode === 'deterministic')],
  ['research', some(({ mode }) => mode === 'research')],
  ['child', some(({ mode }) => mode === 'dag')],
  ['approval', some(({ mode, approval }) => mode === 'approval' || approval !== undefined)],
  ['quorum', some(({ approval }) => (approval?.quorum ?? 1) > 1)],
  ['pre-gates', some(({ pre_gates }) => pre_gates.length > 0)],
  ['post-gates', some(({ post_gates }) => post_gates.length > 0)],
  ['retry', some(({ retry }) => retry.max_attempts > 1)],
  ['bounce', some(({ on_gate_fail }) => (on_gate_fail ?? []).length > 0)],
  ['when', some((block) => block.when !== undefined)],
  ['depends', some((block) => block.depends !== undefined)],
  ['foreach', some((block) => block.foreach !== undefined)],
  ['cache', some((block) => block.cache !== undefined)],
  ['budget', ({ budget, blocks }) => budget !== undefined || blocks.some((block) => block.budget !== undefined)],
  ['goal', ({ completion, goal_contract }) => completion !== undefined || goal_contract !== undefined],
]

export const FEATURE_NAMES: readonly string[] = FEATURES.map(([name]) => name)

/** Names of the parts of the language a document uses. */
export function documentFeatures(dag: Dag): readonly string[] {
  return FEATURES.filter(([, uses]) => uses(dag)).map(([name]) => name)
}

function some(fits: (block: Block) => boolean): (dag: Dag) => boolean {
  return ({ blocks }) => blocks.some(fits)
}
