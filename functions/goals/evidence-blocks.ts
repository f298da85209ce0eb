import { judgingBlocks } from '../../shared/dag/completion.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import type { Standing } from './standing-blocks.ts'

/**
 * The standing blocks that speak for the goal of their run. Those that judge it do not, nor do approvals: what a person
 * says with a decision is no measurement, also where it looks like one.
 */
export function evidenceBlocks(
  { blocks, completion }: Pick<Dag, 'blocks' | 'completion'>,
  standing: readonly Standing[],
): readonly Standing[] {
  const judging = completion === undefined ? new Set<string>() : judgingBlocks(completion)
  const asking = new Set(blocks.filter(({ mode }) => mode === 'approval').map(({ id }) => id))
  return standing.filter(({ block }) => !judging.has(block) && !asking.has(block))
}
